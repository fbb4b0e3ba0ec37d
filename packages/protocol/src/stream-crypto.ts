/**
 * The two primitives that protect an agent stream: X25519 and ChaCha20-Poly1305. Programs bring their runtime's, which
 * is many times faster than any in JavaScript.
 */
export type StreamCrypto = {
  /** Makes a key pair for one stream. */
  readonly makeExchangeKey: () => ExchangeKey;
  /** Readies a key of 32 bytes. */
  readonly cipher: (key: Uint8Array) => Cipher;
};

/** An ephemeral X25519 key pair; the private half cannot be read. */
export type ExchangeKey = {
  readonly publicKey: Uint8Array;
  /** The secret shared with the holder of the other key; `null` when that is not a usable key (too short, low order). */
  readonly agree: (theirs: Uint8Array) => Uint8Array | null;
};

/** What sealing and records need of it. */
export type Ciphers = Pick<StreamCrypto, "cipher">;

/** ChaCha20-Poly1305 under one key. A nonce has 12 bytes and is used once per key. */
export type Cipher = {
  /** Answers `head`, the encrypted `plain`, and a tag of 16 bytes over both, as one array. */
  readonly seal: (nonce: Uint8Array, head: Uint8Array, plain: Uint8Array) => Uint8Array;
  /** Undoes `seal` for a head of that many bytes; `null` when anything was changed or is missing. */
  readonly open: (nonce: Uint8Array, headBytes: number, sealed: Uint8Array) => Uint8Array | null;
};

/** Bytes of a Poly1305 tag. */
export const TAG_BYTES = 16;
/** Bytes of a nonce of the cipher. */
export const CIPHER_NONCE_BYTES = 12;
