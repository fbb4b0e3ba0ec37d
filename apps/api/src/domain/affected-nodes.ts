import type { PeerId } from "@weft/protocol";
import type { AccessPolicy, PolicyClass, PolicyFilters, PolicyPeer } from "./access-policy.ts";
import { carriedClasses } from "./gateways.ts";
import type { Gateways } from "./gateways.ts";
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
  {
    policy,
    filters,
    clientsOf,
  }: {
    readonly policy: AccessPolicy;
    readonly filters: Pick<PolicyFilters, "uses">;
    readonly clientsOf: Gateways["clientsOf"];
  },
  { change, touched }: { readonly change: PeerChange; readonly touched: ReadonlySet<number> },
  nodes: Iterable<PolicyPeer>,
): readonly { readonly id: PeerId; readonly effect: Effect }[] {
  const carried = (peer: PolicyPeer) => carriedClasses({ policy, clientsOf }, peer);
  const [before = [], after = []] = [change.before, change.after].map((peer) => (peer ? carried(peer) : []));
  const gateways = [change.before, change.after].map((peer) => peer?.gatewayPeerId);
  const connect = (own: readonly PolicyClass[], others: readonly PolicyClass[]) =>
    own.some((one) => others.some((other) => policy.connects(one, other)));
  const affected: { readonly id: PeerId; readonly effect: Effect }[] = [];
  for (const node of nodes) {
    const own = carried(node);
    const [saw, willSee] = [before, after].map((classes, at) => gateways[at] === node.id || connect(own, classes));
    const sees = node.id === change.id || (change.content === "same" ? saw !== willSee : saw || willSee);
    const isFiltered =
      touched.size > 0 && [node, ...clientsOf(node.id)].some((carriedOne) => filters.uses(carriedOne, touched));
    if (sees && isFiltered) affected.push({ id: node.id, effect: "both" });
    else if (sees || isFiltered) affected.push({ id: node.id, effect: sees ? "peer" : "filter" });
  }
  return affected;
}
