import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Seals an answer so that only who shows the same `Idempotency-Key` again gets it: the key is not stored anywhere. */
export function sealAnswer(idempotencyKey: string, answer: string): string {
  const salt = randomBytes(SALT_BYTES);
  const cipher = createCipheriv(CIPHER, sealingKey(idempotencyKey, salt), NONCE);
  const sealed = Buffer.concat([cipher.update(answer, "utf8"), cipher.final()]);
  return Buffer.concat([salt, cipher.getAuthTag(), sealed]).toString("base64");
}

/** @throws Error when the text was sealed under another key, or was changed. */
export function openAnswer(idempotencyKey: string, text: string): string {
  const bytes = Buffer.from(text, "base64");
  const salt = bytes.subarray(0, SALT_BYTES);
  const decipher = createDecipheriv(CIPHER, sealingKey(idempotencyKey, salt), NONCE);
  decipher.setAuthTag(bytes.subarray(SALT_BYTES, SALT_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(SALT_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
}

function sealingKey(idempotencyKey: string, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", idempotencyKey, salt, "weft idempotent answer", 32));
}

const CIPHER = "aes-256-gcm";
/** Every answer has a fresh salt and so a key of its own, which seals one text. */
const NONCE = Buffer.alloc(12);
const SALT_BYTES = 32;
const TAG_BYTES = 16;
