/** What we know about the way to a peer. */
export type PathState =
  /** Nothing authenticated was ever heard on it. */
  | { readonly state: "unknown" }
  /** Authenticated packets come through. */
  | { readonly state: "direct"; readonly sinceMs: number }
  /** It worked and then went silent. */
  | { readonly state: "stale"; readonly sinceMs: number };

export const UNKNOWN_PATH: PathState = { state: "unknown" };

/** Something authenticated arrived. */
export function pathHeard(path: PathState, nowMs: number): PathState {
  return path.state === "direct" ? path : { state: "direct", sinceMs: nowMs };
}

/** We sent and nothing authenticated came back in time. */
export function pathSilent(path: PathState, nowMs: number): PathState {
  return path.state === "direct" ? { state: "stale", sinceMs: nowMs } : path;
}
