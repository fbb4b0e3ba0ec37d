import type { ConcealProfile, ConcealRange } from "@weft/protocol";
import type { SessionAgeing, Silence } from "./engine-port.ts";
import { drawFrom } from "./message-types.ts";
import {
  KEEPALIVE_MS,
  REJECT_AFTER_MS,
  REKEY_AFTER_MS,
  REKEY_RETRY_MS,
  RETRY_JITTER_MS_MAX,
} from "./session-timers.ts";

/** From where to where each timer of WireGuard is drawn; equal ends = not drawn. Seconds. */
export type TimerRanges = {
  readonly retry: ConcealRange;
  readonly keepalive: ConcealRange;
  readonly rekeyAfter: ConcealRange;
  readonly rejectAfter: ConcealRange;
  /** How many initiations may be repeated; null = as many as fit into WireGuard's 90 seconds. */
  readonly repeats: ConcealRange | null;
};

type Random = (byteCount: number) => Uint8Array;

/** The timers that a profile wants; those it does not name are WireGuard's own. */
export function timerRanges(profile: ConcealProfile): TimerRanges {
  const { rekeyTimeout, keepaliveTimeout, rekeyAfterTime, rejectAfterTime, maxHandshakeAttempts } = profile;
  const countsRepeats = isSet(rekeyTimeout) || isSet(maxHandshakeAttempts);
  return {
    retry: orElse(rekeyTimeout, REKEY_RETRY_MS / MS_PER_SECOND),
    keepalive: orElse(keepaliveTimeout, KEEPALIVE_MS / MS_PER_SECOND),
    rekeyAfter: orElse(rekeyAfterTime, REKEY_AFTER_MS / MS_PER_SECOND),
    rejectAfter: orElse(rejectAfterTime, REJECT_AFTER_MS / MS_PER_SECOND),
    repeats: countsRepeats ? orElse(maxHandshakeAttempts, REPEATS) : null,
  };
}

/** Ages of one session (TMR-09, TMR-10, TMR-11), drawn for it; null = WireGuard's own. */
export function drawAgeing(ranges: TimerRanges, random: Random): SessionAgeing | null {
  const { rekeyAfter, rejectAfter, keepalive, retry } = ranges;
  const receive = drawFrom(rejectAfter, random) - keepalive.low - retry.low;
  const ageing = {
    rekeyOnSendMs: drawFrom(rekeyAfter, random) * MS_PER_SECOND,
    rekeyOnReceiveMs: Math.max(0, receive) * MS_PER_SECOND,
    rejectAfterMs: rejectAfter.high * MS_PER_SECOND,
  };
  const { rekeyOnSendMs, rekeyOnReceiveMs, rejectAfterMs } = ageing;
  const isPlain =
    rekeyOnSendMs === REKEY_AFTER_MS &&
    rekeyOnReceiveMs === REJECT_AFTER_MS - KEEPALIVE_MS - REKEY_RETRY_MS &&
    rejectAfterMs === REJECT_AFTER_MS;
  return isPlain ? null : ageing;
}

/** How long silence lasts before the engine does something about it (TMR-07, TMR-08). */
export function silenceOf({ keepalive, retry }: TimerRanges): Silence {
  return {
    keepaliveMs: { low: Math.max(1, keepalive.low * MS_PER_SECOND), high: keepalive.high * MS_PER_SECOND },
    noAnswerMs: {
      low: (keepalive.high + retry.low) * MS_PER_SECOND,
      high: (keepalive.high + retry.high) * MS_PER_SECOND + RETRY_JITTER_MS_MAX,
    },
  };
}

/** What counts without any profile. */
export const WIREGUARD_SILENCE: Silence = {
  keepaliveMs: { low: KEEPALIVE_MS, high: KEEPALIVE_MS },
  noAnswerMs: { low: KEEPALIVE_MS + REKEY_RETRY_MS, high: KEEPALIVE_MS + REKEY_RETRY_MS },
};

function isSet({ high }: ConcealRange): boolean {
  return high > 0;
}

function orElse(range: ConcealRange, value: number): ConcealRange {
  return isSet(range) ? range : { low: value, high: value };
}

const MS_PER_SECOND = 1_000;
/** With 5 seconds between two initiations WireGuard's 90 seconds hold so many repetitions. */
const REPEATS = 18;
