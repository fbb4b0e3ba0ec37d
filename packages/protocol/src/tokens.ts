import type { RandomBytes } from "./inputs.ts";
import { serverKeyFromPin, serverKeyToPin, type ServerKey } from "./keys.ts";
import { err, ok, type Result } from "./result.ts";
import { Secret } from "./secret.ts";

/** Personal access token, token of a service user, enrolment key. */
export const TOKEN_KINDS = ["pat", "svc", "enr"] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

export type TokenError =
  | { readonly code: "token_shape"; readonly detail: string }
  | { readonly code: "token_checksum" }
  | { readonly code: "token_kind"; readonly expected: TokenKind; readonly got: TokenKind };

/** What `weft join` needs beside the URL. */
export type JoinKey = { readonly secret: Secret<string>; readonly serverKey: ServerKey };

/** Makes a token: `weft_<kind>_`, 30 random letters and digits, 6 checksum characters. */
export function makeToken(kind: TokenKind, random: RandomBytes): Secret<string> {
  const head = `weft_${kind}_${randomText(random)}`;
  return new Secret(head + checksum(head));
}

/** Checks shape and checksum; says nothing about whether the token is known. */
export function parseToken(text: string): Result<TokenKind, TokenError> {
  const match = TOKEN.exec(text);
  const kind = TOKEN_KINDS.find((candidate) => candidate === match?.[1]);
  if (!match || !kind) {
    return err({
      code: "token_shape",
      detail: `${text.length} characters that do not look like weft_${TOKEN_KINDS.join("|")}_…`,
    });
  }
  return text.slice(-CHECKSUM_LENGTH) === checksum(text.slice(0, -CHECKSUM_LENGTH))
    ? ok(kind)
    : err({ code: "token_checksum" });
}

/** The second word of a join line: enrolment key, dot, pinned server key. */
export function formatJoinKey(secret: Secret<string>, serverKey: ServerKey): string {
  return `${secret.expose()}.${serverKeyToPin(serverKey)}`;
}

/** Reads the second word of a join line. */
export function parseJoinKey(text: string): Result<JoinKey, TokenError> {
  const [secret = "", pin = "", ...rest] = text.trim().split(".");
  const kind = parseToken(secret);
  if (!kind.ok) return kind;
  if (kind.value !== "enr") return err({ code: "token_kind", expected: "enr", got: kind.value });
  const serverKey = serverKeyFromPin(pin);
  if (!serverKey.ok || rest.length > 0)
    return err({ code: "token_shape", detail: "the part behind the dot is not a server key" });
  return ok({ secret: new Secret(secret), serverKey: serverKey.value });
}

/** Uniform over the alphabet: bytes that would favour the first digits are thrown away. */
function randomText(random: RandomBytes): string {
  const fair = 256 - (256 % DIGITS.length);
  let text = "";
  while (text.length < RANDOM_LENGTH) {
    for (const byte of random(RANDOM_LENGTH)) {
      if (byte < fair && text.length < RANDOM_LENGTH) text += DIGITS.charAt(byte % DIGITS.length);
    }
  }
  return text;
}

/** CRC-32 in six base-62 digits: finds typing errors before anybody is asked. */
function checksum(text: string): string {
  let crc = 0xffff_ffff;
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index) & 255;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1;
  }
  let rest = (crc ^ 0xffff_ffff) >>> 0;
  let digits = "";
  while (digits.length < CHECKSUM_LENGTH) {
    digits = DIGITS.charAt(rest % DIGITS.length) + digits;
    rest = Math.floor(rest / DIGITS.length);
  }
  return digits;
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const TOKEN = /^weft_([a-z]{3})_[0-9A-Za-z]{36}$/;
