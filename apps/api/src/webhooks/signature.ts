import { createHash, createHmac } from "node:crypto";

/** Makes the secret of a webhook. Nothing is stored: it follows from the server's own key, the webhook and a version. */
export function webhookSecret(
  sign: (bytes: Uint8Array) => Uint8Array,
  webhook: { readonly id: string; readonly secretVersion: number },
): string {
  // Ed25519 signatures are the same each time, and nobody without the key can make one.
  const signature = sign(Buffer.from(`weft webhook secret\0${webhook.id}\0${webhook.secretVersion}`));
  return `whsec_${createHash("sha256").update(signature).digest("base64url")}`;
}

/** Value of `Weft-Signature`: the time of sending, and HMAC-SHA256 over `TIME.BODY`. */
export function signatureHeader(secret: string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1_000);
  const mac = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return `t=${seconds},v1=${mac}`;
}
