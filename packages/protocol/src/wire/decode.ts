import { fromBinary, type DescMessage, type MessageShape } from "@bufbuild/protobuf";

import { err, ok, type Result } from "../result.ts";
import { FieldError } from "./checks.ts";

/** Why received bytes are not what they should be. */
export type DecodeError =
  | { readonly code: "malformed"; readonly detail: string }
  | { readonly code: "too_large"; readonly bytes: number; readonly bytesMax: number }
  | { readonly code: "invalid_field"; readonly field: string; readonly detail: string }
  /** A frame of a kind that this side does not know; answered with "unsupported". */
  | { readonly code: "unsupported"; readonly frameNumber: number };

/** Reads one message and converts it; every failure of either step becomes a value. */
export function decodeWith<Schema extends DescMessage, T>(
  schema: Schema,
  input: { readonly bytes: Uint8Array; readonly bytesMax: number },
  convert: (message: MessageShape<Schema>) => T,
): Result<T, DecodeError> {
  const { bytes, bytesMax } = input;
  if (bytes.length > bytesMax) return err({ code: "too_large", bytes: bytes.length, bytesMax });
  let message: MessageShape<Schema>;
  try {
    message = fromBinary(schema, bytes);
  } catch (error) {
    return err({ code: "malformed", detail: error instanceof Error ? error.message : "not a message" });
  }
  try {
    return ok(convert(message));
  } catch (error) {
    if (error instanceof FieldError) return err({ code: "invalid_field", field: error.field, detail: error.message });
    throw error;
  }
}
