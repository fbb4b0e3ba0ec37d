import { err, ok, type Result } from "./result.ts";

/** Why a text is not the canonical encoding of bytes. */
export type Base64Error = { readonly code: "base64"; readonly detail: string };

/** Canonical base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  const text = encode64(bytes, STANDARD);
  return text.padEnd(Math.ceil(text.length / 4) * 4, "=");
}

/** Base64 for URLs, without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return encode64(bytes, URL_SAFE);
}

/** Reads canonical base64 with padding; anything else is refused. */
export function fromBase64(text: string): Result<Uint8Array, Base64Error> {
  if (text.length % 4 !== 0) return err({ code: "base64", detail: `length ${text.length} is not a multiple of 4` });
  return decode64(text.replace(/={1,2}$/, ""), STANDARD);
}

/** Reads canonical unpadded URL-safe base64; anything else is refused. */
export function fromBase64Url(text: string): Result<Uint8Array, Base64Error> {
  return decode64(text, URL_SAFE);
}

/** Lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** Compares content; the time depends on the lengths only. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let index = 0; index < left.length; index += 1) difference |= (left[index] ?? 0) ^ (right[index] ?? 0);
  return difference === 0;
}

/** Joins parts into one array. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

function encode64(bytes: Uint8Array, alphabet: Alphabet): string {
  let text = "";
  for (let index = 0; index < bytes.length; index += 3) {
    const left = bytes.length - index;
    const group = ((bytes[index] ?? 0) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    const digits = left >= 3 ? 4 : left + 1;
    for (let digit = 0; digit < digits; digit += 1) text += alphabet.digits.charAt((group >> (18 - 6 * digit)) & 63);
  }
  return text;
}

function decode64(text: string, alphabet: Alphabet): Result<Uint8Array, Base64Error> {
  if (text.length % 4 === 1) return err({ code: "base64", detail: `${text.length} digits make no whole byte` });
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let pending = 0;
  let bits = 0;
  let written = 0;
  for (let index = 0; index < text.length; index += 1) {
    const value = alphabet.values[text.charCodeAt(index)];
    if (value === undefined || value === WRONG) return err({ code: "base64", detail: `wrong digit at ${index}` });
    pending = (pending << 6) | value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[written] = pending >> bits;
      written += 1;
      pending &= (1 << bits) - 1;
    }
  }
  return pending === 0 ? ok(bytes) : err({ code: "base64", detail: "bits left over after the last byte" });
}

type Alphabet = { readonly digits: string; readonly values: Uint8Array };

/** Stands for characters that are no digit. */
const WRONG = 255;

function alphabetOf(digits: string): Alphabet {
  const values = new Uint8Array(128).fill(WRONG);
  for (let value = 0; value < digits.length; value += 1) values[digits.charCodeAt(value)] = value;
  return { digits, values };
}

const LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const STANDARD = alphabetOf(`${LETTERS_AND_DIGITS}+/`);
const URL_SAFE = alphabetOf(`${LETTERS_AND_DIGITS}-_`);
