import { viewOf } from "./bytes.ts";

/**
 * A time stamp of 12 bytes: seconds and nanoseconds, big-endian, so that later ones compare greater.
 *
 * The nanoseconds are cut to steps of about 17 ms, so that they say little about the host's clock, and the stamp
 * is always greater than `previous`, also when the clock was set back.
 */
export function tai64n(unixMs: number, previous: Uint8Array | null): Uint8Array {
  const seconds = BigInt(Math.floor(unixMs / MS_PER_SECOND)) + TAI_OFFSET_SECONDS;
  const nanoseconds = Math.floor((unixMs % MS_PER_SECOND) * NANOSECONDS_PER_MS);
  const now = { seconds, step: Math.floor(nanoseconds / STEP_NANOSECONDS) };
  const last = previous ? decode(previous) : null;
  return encode(last && !isAfter(now, last) ? following(last) : now);
}

type Stamp = { readonly seconds: bigint; readonly step: number };

function isAfter(stamp: Stamp, other: Stamp): boolean {
  return stamp.seconds > other.seconds || (stamp.seconds === other.seconds && stamp.step > other.step);
}

function following(stamp: Stamp): Stamp {
  if ((stamp.step + 1) * STEP_NANOSECONDS < NANOSECONDS_PER_SECOND) {
    return { seconds: stamp.seconds, step: stamp.step + 1 };
  }
  return { seconds: stamp.seconds + 1n, step: 0 };
}

function encode(stamp: Stamp): Uint8Array {
  const bytes = new Uint8Array(TAI64N_BYTES);
  const view = viewOf(bytes);
  view.setBigUint64(0, stamp.seconds, false);
  view.setUint32(8, stamp.step * STEP_NANOSECONDS, false);
  return bytes;
}

function decode(bytes: Uint8Array): Stamp {
  const view = viewOf(bytes);
  return { seconds: view.getBigUint64(0, false), step: Math.floor(view.getUint32(8, false) / STEP_NANOSECONDS) };
}

const TAI64N_BYTES = 12;
/** 2^62 marks 1970 in TAI64; TAI was 10 s ahead of UTC then. */
const TAI_OFFSET_SECONDS = 2n ** 62n + 10n;
const STEP_NANOSECONDS = 2 ** 24;
const MS_PER_SECOND = 1_000;
const NANOSECONDS_PER_MS = 1_000_000;
const NANOSECONDS_PER_SECOND = 1_000_000_000;
