import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";

import { TAG_BYTES, toBase64Url, type StreamCrypto } from "@weft/protocol";

/** The stream's primitives out of the runtime's own library. */
export const nodeCrypto: StreamCrypto = {
  makeExchangeKey() {
    // The private half stays inside the library.
    const { publicKey, privateKey } = generateKeyPairSync("x25519");
    const { x } = publicKey.export({ format: "jwk" });
    return {
      publicKey: Uint8Array.from(Buffer.from(x ?? "", "base64url")),
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
    // This form is read many times faster than DER.
    const key = { kty: "OKP", crv: "X25519", x: toBase64Url(theirs) };
    return diffieHellman({ privateKey, publicKey: createPublicKey({ key, format: "jwk" }) });
  } catch {
    // A key of another length or of low order; the library refuses both by throwing.
    return null;
  }
}

const ALGORITHM = "chacha20-poly1305";
const TAG_LENGTH = { authTagLength: TAG_BYTES };
