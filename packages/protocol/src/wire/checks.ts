import { isPlainText } from "../names.ts";
import type { Result } from "../result.ts";

/**
 * A field of a received message is wrong. Thrown by the checks of this folder only and turned into an error
 * value in `decode.ts`, so that sixty checks read as one line each.
 */
export class FieldError extends Error {
  readonly field: string;

  constructor(field: string, detail: string) {
    super(detail);
    this.field = field;
  }
}

/** A required part of a message. */
export function present<T>(field: string, value: T | undefined): T {
  if (value === undefined) throw new FieldError(field, "missing");
  return value;
}

/** Short printable text. */
export function text(field: string, value: string, lengthMax: number): string {
  if (!isPlainText(value, lengthMax))
    throw new FieldError(field, `longer than ${lengthMax} characters or not printable`);
  return value;
}

/** Any text up to a length. */
export function shortText(field: string, value: string, lengthMax: number): string {
  if (value.length > lengthMax) throw new FieldError(field, `longer than ${lengthMax} characters`);
  return value;
}

/** Text that a guard accepts. */
export function word<T extends string>(field: string, value: string, is: (text: string) => text is T): T {
  if (!is(value)) throw new FieldError(field, `"${value.slice(0, 40)}" is none of the known words`);
  return value;
}

/** Bytes of one exact length. */
export function sized(field: string, value: Uint8Array, length: number): Uint8Array {
  if (value.length !== length) throw new FieldError(field, `${value.length} bytes instead of ${length}`);
  return value;
}

/** Bytes up to a length. */
export function bounded(field: string, value: Uint8Array, lengthMax: number): Uint8Array {
  if (value.length > lengthMax) throw new FieldError(field, `${value.length} bytes, at most ${lengthMax} are allowed`);
  return value;
}

/** A whole number inside bounds. */
export function within(field: string, value: number, bounds: { readonly min: number; readonly max: number }): number {
  if (!Number.isSafeInteger(value) || value < bounds.min || value > bounds.max) {
    throw new FieldError(field, `${value} is outside ${bounds.min} to ${bounds.max}`);
  }
  return value;
}

/** A 64-bit number that a JavaScript number holds exactly. */
export function safeNumber(field: string, value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new FieldError(field, `${value} is larger than 2^53 - 1`);
  return Number(value);
}

/** A list with at most this many entries. */
export function atMost<T>(field: string, list: readonly T[], lengthMax: number): readonly T[] {
  if (list.length > lengthMax) throw new FieldError(field, `${list.length} entries, at most ${lengthMax} are allowed`);
  return list;
}

/** A column: exactly one entry per row. */
export function column<T>(field: string, list: readonly T[], rows: number): readonly T[] {
  if (list.length !== rows) throw new FieldError(field, `${list.length} entries for ${rows} rows`);
  return list;
}

/** The value of a parser's success. */
export function parsed<T>(field: string, result: Result<T, { readonly code: string }>): T {
  if (!result.ok) throw new FieldError(field, `not valid (${result.error.code})`);
  return result.value;
}

/** A guard for one of a few words. */
export function oneOf<const T extends string>(words: readonly T[]): (text: string) => text is T {
  return (candidate): candidate is T => words.some((known) => known === candidate);
}
