import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  diffieHellman,
} from "node:crypto";
import type { KeyObject } from "node:crypto";
import { TAG_BYTES } from "@weft/protocol";
import type { StreamCrypto } from "@weft/protocol";

/** The stream's primitives out of the runtime's own library. */
export const nodeCrypto: StreamCrypto = {
  exchangeKeyFrom(privateBytes) {
    const key = Buffer.concat([PKCS8_HEAD, privateBytes]);
    const privateKey = createPrivateKey({ key, format: "der", type: "pkcs8" });
    key.fill(0);
    const encoded = createPublicKey(privateKey).export({ format: "der", type: "spki" });
    return {
      publicKey: Uint8Array.from(encoded.subarray(SPKI_HEAD.length)),
      agree: (theirs) => agree(privateKey, theirs),
    };
  },
  cipher(keyBytes) {
    const key = createSecretKey(keyBytes);
    return {
      seal(nonce, head, plain) {
        const cipher = createCipheriv(ALGORITHM, key, nonce, TAG_LENGTH);
        cipher.setAAD(head, { plaintextLength: plain.length });
        return Buffer.concat([head, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      },
      open(nonce, headBytes, sealed) {
        const bodyEnd = sealed.length - TAG_BYTES;
        if (bodyEnd < headBytes) return null;
        const decipher = createDecipheriv(ALGORITHM, key, nonce, TAG_LENGTH);
        decipher.setAAD(sealed.subarray(0, headBytes), { plaintextLength: bodyEnd - headBytes });
        decipher.setAuthTag(sealed.subarray(bodyEnd));
        const plain = decipher.update(sealed.subarray(headBytes, bodyEnd));
        try {
          decipher.final();
        } catch {
          return null;
        }
        return plain;
      },
    };
  },
};

function agree(privateKey: KeyObject, theirs: Uint8Array): Uint8Array | null {
  try {
    const key = Buffer.concat([SPKI_HEAD, theirs]);
    return diffieHellman({ privateKey, publicKey: createPublicKey({ key, format: "der", type: "spki" }) });
  } catch {
    // A key of another length or of low order; the library refuses both by throwing.
    return null;
  }
}

const ALGORITHM = "chacha20-poly1305";
const TAG_LENGTH = { authTagLength: TAG_BYTES };
/** The fixed bytes in front of raw X25519 keys (RFC 8410). */
const PKCS8_HEAD = Buffer.from("302e020100300506032b656e04220420", "hex");
const SPKI_HEAD = Buffer.from("302a300506032b656e032100", "hex");
