import type { Timers } from "../stream/timers.ts";

/** Keeps a stream alive and notices when the other side has gone. */
export type Heartbeat = {
  readonly start: (intervalMs: number) => void;
  /** Something came from the other side. */
  readonly heard: () => void;
  readonly stop: () => void;
};

export type HeartbeatDeps = {
  readonly timers: Timers;
  /** 0 ≤ value < 1. */
  readonly chance: () => number;
  readonly ping: (token: bigint) => void;
  readonly onSilence: (silentMs: number) => void;
};

/** Pings every interval ± 10 % and gives up after 35 s of silence at an interval of 15 s (AP-40). */
export function createHeartbeat({ timers, chance, ping, onSilence }: HeartbeatDeps): Heartbeat {
  let lastHeardMs = 0;
  let cancel = (): void => {};
  const beat = (intervalMs: number): void => {
    const silenceMs = (intervalMs * 7) / 3;
    const patienceMs = Math.max(1, lastHeardMs + silenceMs - timers.nowMs());
    cancel = timers.after(Math.min(intervalMs * (0.9 + 0.2 * chance()), patienceMs), () => {
      const silentMs = timers.nowMs() - lastHeardMs;
      if (silentMs >= silenceMs) return onSilence(silentMs);
      ping(BigInt(Math.floor(timers.nowMs())));
      beat(intervalMs);
    });
  };
  return {
    start(intervalMs) {
      cancel();
      lastHeardMs = timers.nowMs();
      beat(intervalMs);
    },
    heard() {
      lastHeardMs = timers.nowMs();
    },
    stop: () => cancel(),
  };
}
