import { chacha20poly1305 } from "@noble/ciphers/chacha.js";
import { x25519 } from "@noble/curves/ed25519.js";

import { concatBytes } from "../bytes.ts";
import type { Ciphers, ExchangeKey } from "../stream-crypto.ts";

/** The stream's primitives in plain JavaScript: what the programs' own are compared with. */
export const nobleCrypto: Ciphers & { readonly exchangeKeyFrom: (privateKey: Uint8Array) => ExchangeKey } = {
  exchangeKeyFrom: (privateKey) => ({
    publicKey: x25519.getPublicKey(privateKey),
    agree: (theirs) => orNull(() => x25519.getSharedSecret(privateKey, theirs)),
  }),
  cipher(key) {
    const own = Uint8Array.from(key);
    return {
      seal: (nonce, head, plain) => concatBytes([head, chacha20poly1305(own, nonce, head).encrypt(plain)]),
      open: (nonce, headBytes, sealed) =>
        orNull(() => chacha20poly1305(own, nonce, sealed.subarray(0, headBytes)).decrypt(sealed.subarray(headBytes))),
    };
  },
};

/** The library refuses by throwing. */
function orNull<T>(run: () => T): T | null {
  try {
    return run();
  } catch {
    return null;
  }
}
