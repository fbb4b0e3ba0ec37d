import { chacha20poly1305, xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { x25519 } from "@noble/curves/ed25519.js";
import { blake2s } from "@noble/hashes/blake2.js";
import { hmac } from "@noble/hashes/hmac.js";
import {
  KEY_BYTES,
  MAC_BYTES,
  type Primitives,
  type PrivateKey,
  type RemoteKey,
  type SealInput,
} from "../core/handshake/primitives.ts";

/** The primitives in plain JavaScript: slow, runs anywhere, and what the faster implementation is compared with. */
export function createNoblePrimitives(): Primitives {
  return {
    importPrivateKey,
    importPublicKey,
    hash: (first, second) => blake2s.create({}).update(first).update(second).digest(),
    mac: (key, data) => blake2s(data, { key, dkLen: MAC_BYTES }),
    hmac: (key, first, second) => hmac.create(blake2s, key).update(first).update(second).digest(),
    seal: (box) => chacha20poly1305(box.key, box.nonce, box.associated).encrypt(box.text),
    open: (box) => orNull(() => chacha20poly1305(box.key, box.nonce, box.associated).decrypt(box.text)),
    sealExtended: nobleSealExtended,
    openExtended: nobleOpenExtended,
  };
}

export function nobleSealExtended(box: SealInput): Uint8Array {
  return xchacha20poly1305(box.key, box.nonce, box.associated).encrypt(box.text);
}

export function nobleOpenExtended(box: SealInput): Uint8Array | null {
  return orNull(() => xchacha20poly1305(box.key, box.nonce, box.associated).decrypt(box.text));
}

function importPrivateKey(bytes: Uint8Array): PrivateKey {
  const secret = new Uint8Array(bytes); // slice() of a Buffer would share its memory.
  return {
    publicKey: importPublicKey(x25519.getPublicKey(secret)),
    agree: (remote) => orNull(() => x25519.getSharedSecret(secret, remote.bytes)),
  };
}

function importPublicKey(bytes: Uint8Array): RemoteKey {
  if (bytes.length !== KEY_BYTES) throw new Error(`an X25519 key has ${KEY_BYTES} bytes, got ${bytes.length}`);
  return { bytes: new Uint8Array(bytes) };
}

/** The library throws for a wrong tag and for a low-order key; both are expected. */
function orNull(attempt: () => Uint8Array): Uint8Array | null {
  try {
    return attempt();
  } catch {
    return null;
  }
}
