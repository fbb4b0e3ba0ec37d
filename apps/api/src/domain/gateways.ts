import type { PeerId } from "@weft/protocol";
import { maySee } from "./access-policy.ts";
import type { AccessPolicy, PolicyClass, PolicyPeer } from "./access-policy.ts";
import type { Peer } from "./peer.ts";

/** Which static clients each gateway speaks for. */
export type Gateways = {
  /** Those that take part, in the order of their ids. */
  readonly clientsOf: (gateway: PeerId) => readonly Peer[];
  readonly note: (before: Peer | undefined, after: Peer | undefined) => void;
};

export function createGateways(peers: Iterable<Peer>): Gateways {
  const clients = new Map<PeerId, Map<PeerId, Peer>>();
  const ordered = new Map<PeerId, readonly Peer[]>();
  const note: Gateways["note"] = (before, after) => {
    if (before?.gatewayPeerId) {
      clients.get(before.gatewayPeerId)?.delete(before.id);
      ordered.delete(before.gatewayPeerId);
    }
    if (!after?.gatewayPeerId || after.state !== "active") return;
    const own = clients.get(after.gatewayPeerId) ?? new Map<PeerId, Peer>();
    clients.set(after.gatewayPeerId, own.set(after.id, after));
    ordered.delete(after.gatewayPeerId);
  };
  for (const peer of peers) note(undefined, peer);
  return {
    note,
    clientsOf(gateway) {
      const known = ordered.get(gateway);
      if (known) return known;
      const own = [...(clients.get(gateway)?.values() ?? [])].toSorted((left, right) => (left.id < right.id ? -1 : 1));
      if (own.length > 0) ordered.set(gateway, own);
      return own;
    },
  };
}

/** Classes of all for whom a peer carries packets: its own, and those of the clients behind it. */
export function carriedClasses(
  { policy, clientsOf }: { readonly policy: AccessPolicy; readonly clientsOf: Gateways["clientsOf"] },
  peer: PolicyPeer,
): readonly PolicyClass[] {
  const clients = clientsOf(peer.id);
  if (clients.length === 0) return [policy.classOf(peer)];
  return [...new Set([peer, ...clients].map((one) => policy.classOf(one)))];
}

/**
 * True when a node has another member in its map: the two may exchange packets, or a client behind one of them may, or the
 * node is the gateway of that client. Both must take part.
 */
export function isInMap(
  context: { readonly policy: AccessPolicy; readonly clientsOf: Gateways["clientsOf"] },
  viewer: Peer,
  other: Peer,
): boolean {
  if (viewer.id === other.id || (other.kind === "client" && other.gatewayPeerId === null)) return false;
  if (other.gatewayPeerId === viewer.id || viewer.gatewayPeerId === other.id) return true;
  if (maySee(context.policy, viewer, other)) return true;
  const theirs = carriedClasses(context, other);
  return carriedClasses(context, viewer).some((own) => theirs.some((their) => context.policy.connects(own, their)));
}
