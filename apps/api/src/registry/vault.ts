import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** Keeps secrets that must be readable again: authenticator secrets, client secrets. The database alone opens none. */
export type Vault = {
  /** `purpose` names the place that the text is kept at; it opens nowhere else. */
  readonly seal: (purpose: string, text: string) => string;
  /** @throws Error when the text was sealed by another server, for another purpose, or was changed. */
  readonly open: (purpose: string, sealed: string) => string;
};

/** A vault under a key of 32 bytes. */
export function createVault(key: Uint8Array): Vault {
  return {
    seal(purpose, text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(purpose));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
    },
    open(purpose, sealed) {
      if (!sealed.startsWith(PREFIX)) throw new Error("the text is not from a vault");
      const bytes = Buffer.from(sealed.slice(PREFIX.length), "base64url");
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(purpose));
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
    },
  };
}

const PREFIX = "v1.";
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
