import { strings } from "../strings/index.ts";

/** How a host's clock stands against the server's, in words. */
export function clockText(skewMs: number | null): string {
  if (skewMs === null) return strings.peer.clock.unknown;
  const seconds = Math.abs(skewMs) / 1000;
  if (seconds < 0.1) return strings.peer.clock.same;
  return skewMs > 0 ? strings.peer.clock.ahead(seconds.toFixed(1)) : strings.peer.clock.behind(seconds.toFixed(1));
}

/** The sentence that warns of a clock; undefined while it is close enough or unknown. */
export function clockProblem(skewMs: number | null): string | undefined {
  if (skewMs === null || Math.abs(skewMs) < CLOCK_SKEW_WARN_MS) return undefined;
  return strings.peer.clock.problem(clockText(skewMs));
}

/** From here on agents say it is a problem, too. */
const CLOCK_SKEW_WARN_MS = 1_000;
