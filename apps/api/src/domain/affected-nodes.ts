import type { PeerId } from "@weft/protocol";
import type { AccessPolicy, PolicyFilters, PolicyPeer } from "./access-policy.ts";
import type { Peer } from "./peer.ts";

/** A peer before and after a change; `undefined` where it is not there. */
export type PeerChange = {
  readonly id: PeerId;
  readonly before: Peer | undefined;
  readonly after: Peer | undefined;
  /** Whether maps say something else of it; who sees it may change all the same. */
  readonly content: "same" | "other";
};

/** What a change of a peer means for a node: its list of peers, its packet rules, or both. */
export type Effect = "peer" | "filter" | "both";

/**
 * Nodes whose map changes when a peer does: the peer itself, all that could or can see it, and all whose packet rules
 * name its addresses. `touched` are the selectors whose addresses changed with it.
 */
export function affectedByPeer(
  { policy, filters }: { readonly policy: AccessPolicy; readonly filters: Pick<PolicyFilters, "uses"> },
  { change, touched }: { readonly change: PeerChange; readonly touched: ReadonlySet<number> },
  nodes: Iterable<PolicyPeer>,
): readonly { readonly id: PeerId; readonly effect: Effect }[] {
  const [before, after] = [change.before, change.after].map((peer) => peer && policy.classOf(peer));
  const affected: { readonly id: PeerId; readonly effect: Effect }[] = [];
  for (const node of nodes) {
    const own = policy.classOf(node);
    const saw = before !== undefined && policy.connects(own, before);
    const willSee = after !== undefined && policy.connects(own, after);
    const sees = node.id === change.id || (change.content === "same" ? saw !== willSee : saw || willSee);
    const isFiltered = touched.size > 0 && filters.uses(node, touched);
    if (sees && isFiltered) affected.push({ id: node.id, effect: "both" });
    else if (sees || isFiltered) affected.push({ id: node.id, effect: sees ? "peer" : "filter" });
  }
  return affected;
}
