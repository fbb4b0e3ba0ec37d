import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
} from "node:crypto";

import { TAG_BYTES, toBase64Url, type StreamCrypto } from "@weft/protocol";

/** The primitives of an agent stream out of Node's own library, as the real agent has them. */
export const streamCrypto: StreamCrypto = {
  makeExchangeKey() {
    const { publicKey, privateKey } = generateKeyPairSync("x25519");
    const { x = "" } = publicKey.export({ format: "jwk" });
    return {
      publicKey: Uint8Array.from(Buffer.from(x, "base64url")),
      agree: (theirs) => diffieHellman({ privateKey, publicKey: keyOf("X25519", theirs) }),
    };
  },
  cipher(bytes) {
    const key = createSecretKey(bytes);
    return {
      seal(nonce, head, plain) {
        const cipher = createCipheriv(ALGORITHM, key, nonce, OPTIONS);
        cipher.setAAD(head, { plaintextLength: plain.length });
        return Buffer.concat([head, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      },
      open(nonce, headBytes, sealed) {
        const end = sealed.length - TAG_BYTES;
        const decipher = createDecipheriv(ALGORITHM, key, nonce, OPTIONS);
        decipher.setAAD(sealed.subarray(0, headBytes), { plaintextLength: end - headBytes });
        decipher.setAuthTag(sealed.subarray(end));
        const plain = decipher.update(sealed.subarray(headBytes, end));
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

/** A public key out of its bytes. */
export function keyOf(curve: "X25519" | "Ed25519", bytes: Uint8Array): ReturnType<typeof createPublicKey> {
  return createPublicKey({ key: { kty: "OKP", crv: curve, x: toBase64Url(bytes) }, format: "jwk" });
}

const ALGORITHM = "chacha20-poly1305";
const OPTIONS = { authTagLength: TAG_BYTES };
