import { ok } from "@weft/protocol";
import type { NetworkId, PeerId } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { lockNetwork } from "../db/networks-repository.ts";
import { transact } from "../db/transact.ts";
import { judgeStage } from "../domain/conceal-health.ts";
import type { ConcealVerdict, StageLink } from "../domain/conceal-health.ts";
import { canConceal, isOnStage } from "../domain/conceal-plan.ts";
import type { ConcealPlan } from "../domain/conceal-plan.ts";
import type { Network, Peer } from "../domain/peer.ts";
import { BY_SERVER } from "../registry/audit.ts";
import { planView, publishPlan } from "../registry/publish-conceal-plan.ts";

/** The newest handshakes of one node with others. */
export type ReportedHandshakes = {
  /** When it reported, by our clock. */
  readonly atMs: number;
  /** How old they were then. */
  readonly agesMs: ReadonlyMap<PeerId, number>;
};

type HandshakesOf = (id: PeerId) => ReportedHandshakes | undefined;

/**
 * Watches the handshakes of every network that has a new conceal profile: keeps it after a while, or takes all nodes back
 * as soon as handshakes stop succeeding.
 */
export function createConcealRound(deps: {
  readonly db: Executor;
  readonly networks: () => Iterable<{ readonly network: Network; readonly peers: ReadonlyMap<PeerId, Peer> }>;
  readonly handshakesOf: HandshakesOf;
  readonly nowMs: () => number;
}): () => Promise<void> {
  return async () => {
    for (const { network, peers } of deps.networks()) {
      const plan = network.conceal;
      if (plan?.state !== "watched") continue;
      const verdict = judgeStage(plan, stageLinks(plan, peers, deps.handshakesOf), deps.nowMs());
      if (verdict.kind !== "wait") await settle(deps.db, { networkId: network.id, plan, verdict, nowMs: deps.nowMs() });
    }
  };
}

function stageLinks(
  plan: ConcealPlan,
  peers: ReadonlyMap<PeerId, Peer>,
  handshakesOf: HandshakesOf,
): readonly StageLink[] {
  const isWatched = (peer: Peer | undefined): peer is Peer =>
    peer?.state === "active" && canConceal(peer) && isOnStage(plan, peer);
  const links: StageLink[] = [];
  for (const peer of peers.values()) {
    const report = isWatched(peer) ? handshakesOf(peer.id) : undefined;
    for (const [other, ageMs] of report?.agesMs ?? []) {
      // Each pair counts once, by the report of the one whose id comes first.
      if (!report || other < peer.id || !isWatched(peers.get(other))) continue;
      links.push({ handshakeAtMs: report.atMs - ageMs, reportedAtMs: report.atMs });
      if (links.length >= LINKS_MAX) return links;
    }
  }
  return links;
}

async function settle(
  db: Executor,
  judged: {
    readonly networkId: NetworkId;
    readonly plan: ConcealPlan;
    readonly verdict: Exclude<ConcealVerdict, { kind: "wait" }>;
    readonly nowMs: number;
  },
): Promise<void> {
  const { plan, verdict, networkId } = judged;
  await transact(db, async (tx) => {
    const network = await lockNetwork(tx, networkId);
    const current = network?.conceal;
    // Somebody, or another server of the same database, was faster.
    if (!network || current?.state !== "watched" || current.startedAtMs !== plan.startedAtMs) return ok(undefined);
    const after: ConcealPlan =
      verdict.kind === "keep"
        ? { ...current, state: "kept" }
        : { ...current, state: "rolled-back", reason: verdict.reason };
    const action = verdict.kind === "keep" ? "conceal.keep" : "conceal.rollBack";
    const views = { before: planView(network.id, current), after: planView(network.id, after) };
    const note = { action, objectId: network.id, networkId: network.id, ...views };
    await publishPlan(tx, BY_SERVER, { network, plan: after, note, at: new Date(judged.nowMs) });
    return ok(undefined);
  });
}

/** Of larger stages the first pairs say enough. */
const LINKS_MAX = 10_000;
