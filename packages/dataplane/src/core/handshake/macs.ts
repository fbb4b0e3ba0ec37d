import { equalBytes } from "@weft/protocol";
import { MAC_BYTES, type Primitives } from "./primitives.ts";

/** Fills MAC1 and, when we hold a fresh cookie, MAC2 of a message of type 1 or 2. Returns MAC1. */
export function writeMacs(
  primitives: Primitives,
  message: Uint8Array,
  keys: { readonly mac1Key: Uint8Array; readonly cookie: Uint8Array | null },
): Uint8Array {
  const mac1At = message.length - 2 * MAC_BYTES;
  const mac2At = message.length - MAC_BYTES;
  const mac1 = primitives.mac(keys.mac1Key, message.subarray(0, mac1At));
  message.set(mac1, mac1At);
  if (keys.cookie) message.set(primitives.mac(keys.cookie, message.subarray(0, mac2At)), mac2At);
  return mac1;
}

/** The MAC1 field of a message of type 1 or 2. */
export function mac1Of(message: Uint8Array): Uint8Array {
  return message.subarray(message.length - 2 * MAC_BYTES, message.length - MAC_BYTES);
}

export function hasValidMac1(primitives: Primitives, message: Uint8Array, mac1Key: Uint8Array): boolean {
  const covered = message.subarray(0, message.length - 2 * MAC_BYTES);
  return equalBytes(primitives.mac(mac1Key, covered), mac1Of(message));
}

export function hasValidMac2(primitives: Primitives, message: Uint8Array, cookie: Uint8Array): boolean {
  const covered = message.subarray(0, message.length - MAC_BYTES);
  return equalBytes(primitives.mac(cookie, covered), message.subarray(message.length - MAC_BYTES));
}
