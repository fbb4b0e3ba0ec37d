/**
 * The cryptography the handshake needs, as a port. Implementations live in `io/` and pass
 * `contract/primitives-contract.ts`. All lengths are bytes.
 */
export type Primitives = {
  /** Takes 32 bytes (clamped as X25519 asks) and computes the public half. */
  readonly importPrivateKey: (bytes: Uint8Array) => PrivateKey;
  /** Takes 32 bytes and prepares them for many agreements. */
  readonly importPublicKey: (bytes: Uint8Array) => RemoteKey;
  /** BLAKE2s-256 of both inputs, one after the other. */
  readonly hash: (first: Uint8Array, second: Uint8Array) => Uint8Array;
  /** Keyed BLAKE2s with 16 bytes of output; the key is 16 or 32 bytes. */
  readonly mac: (key: Uint8Array, data: Uint8Array) => Uint8Array;
  /** HMAC-BLAKE2s-256 of both inputs, one after the other; the key is 32 bytes. */
  readonly hmac: (key: Uint8Array, first: Uint8Array, second: Uint8Array) => Uint8Array;
  /** ChaCha20-Poly1305: ciphertext with the 16-byte tag behind it. */
  readonly seal: (box: SealInput) => Uint8Array;
  /** The plaintext; null when the tag does not fit. */
  readonly open: (box: SealInput) => Uint8Array | null;
  /** XChaCha20-Poly1305 (24-byte nonce). */
  readonly sealExtended: (box: SealInput) => Uint8Array;
  readonly openExtended: (box: SealInput) => Uint8Array | null;
};

/** `text` is the plaintext for sealing, ciphertext and tag for opening. */
export type SealInput = {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
  readonly text: Uint8Array;
  readonly associated: Uint8Array;
};

export type PrivateKey = {
  readonly publicKey: RemoteKey;
  /** The X25519 shared secret; null when the other key has low order (the result would be all zero). */
  readonly agree: (remote: RemoteKey) => Uint8Array | null;
};

/** A public key made by `importPublicKey` of the same implementation. */
export type RemoteKey = { readonly bytes: Uint8Array };

export const KEY_BYTES = 32;
export const MAC_BYTES = 16;
export const TAG_BYTES = 16;
export const NONCE_BYTES = 12;
export const EXTENDED_NONCE_BYTES = 24;
