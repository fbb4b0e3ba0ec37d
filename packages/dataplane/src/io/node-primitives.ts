import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hash,
  type KeyObject,
} from "node:crypto";
import { concatBytes } from "@weft/protocol";
import { blake2s } from "@noble/hashes/blake2.js";
import {
  KEY_BYTES,
  MAC_BYTES,
  type Primitives,
  type PrivateKey,
  type RemoteKey,
  type SealInput,
  TAG_BYTES,
} from "../core/handshake/primitives.ts";
import { nobleOpenExtended, nobleSealExtended } from "./noble-primitives.ts";

/**
 * The primitives of OpenSSL through `node:crypto`, and the noble libraries for the two that Node lacks (keyed BLAKE2s,
 * XChaCha20-Poly1305).
 *
 * Keys are imported as JWK, ten times cheaper than DER, and key pairs are made by importing random bytes, never by
 * `generateKeyPairSync`, which was once seen to hang in a tight loop.
 */
export function createNodePrimitives(): Primitives {
  return {
    importPrivateKey,
    importPublicKey: (bytes) => new NodeRemoteKey(bytes),
    hash: (first, second) => hash(BLAKE2S, concatBytes([first, second]), "buffer"),
    mac: (key, data) => blake2s(data, { key, dkLen: MAC_BYTES }),
    hmac: (key, first, second) => createHmac(BLAKE2S, key).update(first).update(second).digest(),
    seal,
    open,
    sealExtended: nobleSealExtended,
    openExtended: nobleOpenExtended,
  };
}

class NodeRemoteKey implements RemoteKey {
  readonly bytes: Uint8Array;
  /** Imported at the first agreement: the public half of a key of our own never has one. */
  #key: KeyObject | null = null;

  constructor(bytes: Uint8Array) {
    if (bytes.length !== KEY_BYTES) throw new Error(`an X25519 key has ${KEY_BYTES} bytes, got ${bytes.length}`);
    this.bytes = new Uint8Array(bytes);
  }

  agreeWith(privateKey: KeyObject): Uint8Array | null {
    this.#key ??= createPublicKey({ key: { kty: "OKP", crv: "X25519", x: base64Url(this.bytes) }, format: "jwk" });
    try {
      return diffieHellman({ privateKey, publicKey: this.#key });
    } catch {
      return null; // OpenSSL refuses an all-zero result: the other key has low order.
    }
  }
}

function importPrivateKey(bytes: Uint8Array): PrivateKey {
  if (bytes.length !== KEY_BYTES) throw new Error(`an X25519 key has ${KEY_BYTES} bytes, got ${bytes.length}`);
  const jwk = { kty: "OKP", crv: "X25519", d: base64Url(bytes), x: IGNORED_PUBLIC_HALF };
  const key = createPrivateKey({ key: jwk, format: "jwk" });
  const publicHalf = key.export({ format: "jwk" }).x;
  if (publicHalf === undefined) throw new Error("an X25519 key exports its public half");
  return {
    publicKey: new NodeRemoteKey(Buffer.from(publicHalf, "base64url")),
    agree(remote) {
      if (!(remote instanceof NodeRemoteKey)) throw new Error("the remote key was made by other primitives");
      return remote.agreeWith(key);
    },
  };
}

function seal(box: SealInput): Uint8Array {
  const cipher = createCipheriv(CHACHA, box.key, box.nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(box.associated, { plaintextLength: box.text.length });
  const sealed = new Uint8Array(box.text.length + TAG_BYTES);
  sealed.set(cipher.update(box.text));
  cipher.final();
  sealed.set(cipher.getAuthTag(), box.text.length);
  return sealed;
}

function open(box: SealInput): Uint8Array | null {
  const plainBytes = box.text.length - TAG_BYTES;
  if (plainBytes < 0) return null;
  const decipher = createDecipheriv(CHACHA, box.key, box.nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(box.associated, { plaintextLength: plainBytes });
  decipher.setAuthTag(box.text.subarray(plainBytes));
  const plain = decipher.update(box.text.subarray(0, plainBytes));
  try {
    decipher.final();
  } catch {
    return null;
  }
  return plain;
}

function base64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}

const BLAKE2S = "blake2s256";
const CHACHA = "chacha20-poly1305";
/** The import wants a public half beside the private one and then computes its own. */
const IGNORED_PUBLIC_HALF = base64Url(new Uint8Array(KEY_BYTES));
