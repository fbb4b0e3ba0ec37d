import type { Endpoint } from "@weft/protocol";
import type { PathState } from "./path-state.ts";

/** Where a peer may be reached, and which of these addresses packets go to at present. */
export type EndpointChoice = {
  /** From the map, best first. */
  readonly candidates: readonly Endpoint[];
  /** One of the candidates, or an address the peer itself was heard from. */
  readonly active: Endpoint | null;
};

export function createEndpointChoice(candidates: readonly Endpoint[]): EndpointChoice {
  return { candidates, active: candidates.at(0) ?? null };
}

/** New candidates from the map: they win, unless the peer was heard from at the present address. */
export function withCandidates(
  choice: EndpointChoice,
  candidates: readonly Endpoint[],
  path: PathState,
): EndpointChoice {
  const keep = path.state === "direct" || candidates.length === 0;
  return { candidates, active: keep ? choice.active : (candidates.at(0) ?? null) };
}

/** The peer was heard from there, authenticated: nothing on a map knows better. */
export function withAuthenticated(choice: EndpointChoice, endpoint: Endpoint): EndpointChoice {
  return choice.active === endpoint ? choice : { ...choice, active: endpoint };
}

/**
 * The addresses one handshake message is sent to; `attempt` counts from 1.
 *
 * A path that works is tried alone at first. Otherwise the same message goes to a few addresses at once and to the next few at
 * the next attempt: the peer takes the copy that arrives first and drops the others as replays.
 */
export function attemptTargets(choice: EndpointChoice, path: PathState, attempt: number): readonly Endpoint[] {
  const { active, candidates } = choice;
  const ring = active ? [active, ...candidates.filter((candidate) => candidate !== active)] : candidates;
  if (active && path.state === "direct" && attempt === 1) return [active];
  const start = ((attempt - 1) * TARGETS_MAX) % Math.max(ring.length, 1);
  return [...ring.slice(start), ...ring.slice(0, start)].slice(0, TARGETS_MAX);
}

/** Where the active address came from. */
export function activeSource(choice: EndpointChoice): "configured" | "roamed" | "none" {
  if (!choice.active) return "none";
  return choice.candidates.includes(choice.active) ? "configured" : "roamed";
}

const TARGETS_MAX = 3;
