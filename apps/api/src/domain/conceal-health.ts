import type { ConcealPlan } from "./conceal-plan.ts";

/** The newest handshake of two nodes of the stage, as one of them reported it. */
export type StageLink = { readonly handshakeAtMs: number; readonly reportedAtMs: number };

export type ConcealVerdict =
  | { readonly kind: "wait" }
  | { readonly kind: "keep" }
  | { readonly kind: "roll-back"; readonly reason: string };

/**
 * Judges a plan by the handshakes of its stage. Every agent starts one with each connected peer when it changes its profile:
 * pairs that were connected before and have none since do not understand each other. Half of them are enough to go back.
 */
export function judgeStage(plan: ConcealPlan, links: readonly StageLink[], nowMs: number): ConcealVerdict {
  const { startedAtMs, watchSeconds } = plan;
  const isOver = nowMs - startedAtMs >= watchSeconds * 1_000;
  const proven = links.filter(({ handshakeAtMs }) => handshakeAtMs > startedAtMs).length;
  const silent = links.filter(
    ({ handshakeAtMs, reportedAtMs }) =>
      handshakeAtMs <= startedAtMs &&
      handshakeAtMs > startedAtMs - SESSION_MS &&
      reportedAtMs >= startedAtMs + PATIENCE_MS,
  ).length;
  if (silent > 0 && silent >= proven) {
    const reason = `${silent} of ${silent + proven} connected pairs made no handshake under the new profile`;
    return { kind: "roll-back", reason };
  }
  return isOver ? { kind: "keep" } : { kind: "wait" };
}

/** Whoever made a handshake so shortly before was connected. */
const SESSION_MS = 180_000;
/** As long as a map may be on its way and an initiation be repeated. */
const PATIENCE_MS = 60_000;
