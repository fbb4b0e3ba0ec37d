import { asciiBytes } from "./bytes.ts";
import { KEY_BYTES, NONCE_BYTES, type Primitives } from "./primitives.ts";

/** The running state of one Noise handshake: chaining key and hash of everything said so far. */
export type Transcript = {
  readonly mixHash: (data: Uint8Array) => void;
  /** Mixes in public bytes or a shared secret without taking a key out. */
  readonly mixKey: (input: Uint8Array) => void;
  /** Mixes in what both sides agreed on beyond plain WireGuard, into hash and keys; null changes nothing. */
  readonly mixProfile: (identifier: Uint8Array | null) => void;
  /** Mixes in a shared secret and returns the key for the next sealed field. */
  readonly mixKeyForSeal: (input: Uint8Array) => Uint8Array;
  /** Mixes in the preshared key, also into the hash, and returns the key for the next sealed field. */
  readonly mixPresharedKey: (input: Uint8Array) => Uint8Array;
  readonly seal: (key: Uint8Array, plain: Uint8Array) => Uint8Array;
  /** The plaintext; null when the tag does not fit (then the transcript is of no further use). */
  readonly open: (key: Uint8Array, sealed: Uint8Array) => Uint8Array | null;
  /** The two transport keys: from initiator to responder, and back. */
  readonly split: () => readonly [Uint8Array, Uint8Array];
  /** A second transcript with the same past. */
  readonly fork: () => Transcript;
};

/** Starts the transcript both sides share: protocol name, identifier, the responder's static key. */
export function createTranscript(primitives: Primitives, responderStatic: Uint8Array): Transcript {
  const start = startOf(primitives);
  return resume(primitives, { chainingKey: start.chainingKey, hash: primitives.hash(start.hash, responderStatic) });
}

type TranscriptState = { readonly chainingKey: Uint8Array; readonly hash: Uint8Array };

function resume(primitives: Primitives, from: TranscriptState): Transcript {
  let { chainingKey, hash } = from;

  const derive = (input: Uint8Array): Derivation => {
    const derivation = createDerivation(primitives, chainingKey, input);
    chainingKey = derivation.next();
    return derivation;
  };
  const mixHash = (data: Uint8Array): void => {
    hash = primitives.hash(hash, data);
  };

  return {
    mixHash,
    mixKey: (input) => void derive(input),
    mixProfile(identifier) {
      if (!identifier) return;
      derive(identifier);
      mixHash(identifier);
    },
    mixKeyForSeal: (input) => derive(input).next(),
    mixPresharedKey(input) {
      const derivation = derive(input);
      mixHash(derivation.next());
      return derivation.next();
    },
    seal(key, plain) {
      const sealed = primitives.seal({ key, nonce: ZERO_NONCE, text: plain, associated: hash });
      mixHash(sealed);
      return sealed;
    },
    open(key, sealed) {
      const plain = primitives.open({ key, nonce: ZERO_NONCE, text: sealed, associated: hash });
      if (plain) mixHash(sealed);
      return plain;
    },
    split() {
      const derivation = createDerivation(primitives, chainingKey, NOTHING);
      return [derivation.next(), derivation.next()];
    },
    fork: () => resume(primitives, { chainingKey, hash }),
  };
}

type Derivation = { readonly next: () => Uint8Array };

/** HKDF as Noise uses it: each call returns the next 32 bytes. */
function createDerivation(primitives: Primitives, salt: Uint8Array, input: Uint8Array): Derivation {
  const secret = primitives.hmac(salt, input, NOTHING);
  let previous: Uint8Array = NOTHING;
  let step = 0;
  return {
    next() {
      step += 1;
      previous = primitives.hmac(secret, previous, Uint8Array.of(step));
      return previous;
    },
  };
}

function startOf(primitives: Primitives): TranscriptState {
  const known = starts.get(primitives);
  if (known) return known;
  const chainingKey = primitives.hash(CONSTRUCTION, NOTHING);
  const start = { chainingKey, hash: primitives.hash(chainingKey, IDENTIFIER) };
  starts.set(primitives, start);
  return start;
}

/** The two constants every transcript begins with, kept per implementation. */
const starts = new WeakMap<Primitives, TranscriptState>();

const CONSTRUCTION = asciiBytes("Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s");
const IDENTIFIER = asciiBytes("WireGuard v1 zx2c4 Jason@zx2c4.com");
const NOTHING = new Uint8Array(0);
const ZERO_NONCE = new Uint8Array(NONCE_BYTES);

/** What stands in for the preshared key when a peer has none. */
export const NO_PRESHARED_KEY: Uint8Array = new Uint8Array(KEY_BYTES);
