/** How finely traffic is kept: the finest for the shortest time. */
export const TRAFFIC_STEPS = ["10s", "1m", "1h"] as const;
export type TrafficStep = (typeof TRAFFIC_STEPS)[number];

/** For how long each step is kept, in milliseconds. */
export type TrafficKeep = Readonly<Record<TrafficStep, number>>;

export const STEP_MS = { "10s": 10_000, "1m": 60_000, "1h": 3_600_000 } as const satisfies Record<TrafficStep, number>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** An hour, a week, a year. */
export const TRAFFIC_KEEP: TrafficKeep = { "10s": HOUR_MS, "1m": 7 * DAY_MS, "1h": 365 * DAY_MS };

/** Begin of the step that a moment lies in. */
export function stepBegin(step: TrafficStep, atMs: number): Date {
  return new Date(Math.floor(atMs / STEP_MS[step]) * STEP_MS[step]);
}

/** Reads `1h/7d/365d`: how long steps of ten seconds, a minute and an hour are kept. `undefined` when it says something else. */
export function parseTrafficKeep(text: string): TrafficKeep | undefined {
  const match = /^(\d{1,5}[hd])\/(\d{1,5}[hd])\/(\d{1,5}[hd])$/.exec(text);
  if (!match) return undefined;
  const [fine = 0, middle = 0, coarse = 0] = match.slice(1).map(spanMs);
  return fine > 0 && fine <= middle && middle <= coarse ? { "10s": fine, "1m": middle, "1h": coarse } : undefined;
}

function spanMs(text: string): number {
  return Number(text.slice(0, -1)) * (text.endsWith("d") ? DAY_MS : HOUR_MS);
}
