import { createTokenBuckets } from "./token-bucket.ts";

/** Measures how late the event loop comes back, from ticks that should be evenly spaced. */
export type LagMeter = {
  /** The timer fired. */
  readonly tick: (nowMs: number) => void;
  /** The worst delay of the last moments, the one that is under way included. */
  readonly lagMs: (nowMs: number) => number;
};

export function createLagMeter(stepMs: number, nowMs: number): LagMeter {
  let tickedMs = nowMs;
  let recentMs = 0;
  // A burst of connections is taken in one turn of the loop, in which no timer fires: the turn's own age counts too.
  const delayMs = (atMs: number) => Math.max(0, atMs - tickedMs - stepMs);
  return {
    tick(atMs) {
      recentMs = Math.max(delayMs(atMs), recentMs * DECAY);
      tickedMs = atMs;
    },
    lagMs: (atMs) => Math.max(delayMs(atMs), recentMs),
  };
}

/** Decides who is let in while the event loop is late. */
export type Doorkeeper = {
  /** Seconds after which a node that knocks now may come again; nothing when it may come in. */
  readonly waitSeconds: (load: { readonly lagMs: number; readonly nowMs: number }) => number | undefined;
};

/** `chance` gives a number of 0 to 255. */
export function createDoorkeeper(chance: () => number): Doorkeeper {
  const trickle = createTokenBuckets({ perSecond: TRICKLE_PER_SECOND, burst: TRICKLE_PER_SECOND });
  return {
    waitSeconds({ lagMs, nowMs }) {
      if (lagMs < SHED_LAG_MS || trickle.take("all", nowMs).ok) return undefined;
      return 1 + (chance() % WAIT_SECONDS_MAX);
    },
  };
}

/** Half of the delay that nobody may see: what is let in until then still has to be served. */
const SHED_LAG_MS = 100;
/** So many are let in however late the loop is: where nodes are not the cause, keeping them out would not help. */
const TRICKLE_PER_SECOND = 10;
/** Those who were sent away come back spread over this long. */
const WAIT_SECONDS_MAX = 8;
/** Per tick: a delay is forgotten within a second. */
const DECAY = 0.8;
