import type { Prefix, RouteId } from "@weft/protocol";

/** One of the ways to a range. */
export type RouteCandidate = {
  readonly id: RouteId;
  readonly prefix: Prefix;
  /** The lowest is preferred. */
  readonly priority: number;
  readonly active: boolean;
  readonly createdAt: Date;
  /** Since when its router answers; null while it does not, or while nobody asks. */
  readonly upSince: Date | null;
};

/**
 * Chooses which of the approved ways to one range is used: exactly one. A way in use stays in use as long as its router
 * answers; a preferred one gets its place back only after it was there for a while, so that a router that comes and goes
 * does not take the traffic with it.
 */
export function chooseRoute(candidates: readonly RouteCandidate[], now: Date): RouteCandidate | undefined {
  const ordered = candidates.toSorted(byPreference);
  const active = ordered.find((candidate) => candidate.active);
  const answering = ordered.filter(({ upSince }) => upSince !== null);
  if (!active) return answering[0] ?? ordered[0];
  if (active.upSince === null) return answering[0] ?? active;
  const settled = answering.find(({ upSince }) => upSince && now.getTime() - upSince.getTime() >= SETTLED_MS);
  return settled && settled.priority < active.priority ? settled : active;
}

function byPreference(left: RouteCandidate, right: RouteCandidate): number {
  if (left.priority !== right.priority) return left.priority - right.priority;
  const age = left.createdAt.getTime() - right.createdAt.getTime();
  if (age !== 0) return age;
  return left.id < right.id ? -1 : 1;
}

/** How long a preferred router must have answered before it takes over from one that works. */
export const SETTLED_MS = 60_000;
