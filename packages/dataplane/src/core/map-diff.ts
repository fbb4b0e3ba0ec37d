import { equalBytes, isSameProfile, type ProfileFallback, type PublicKey } from "@weft/protocol";
import type { TunnelPeer } from "../tunnel.ts";

/** One step from the peers we have to the peers we should have. */
export type PeerChange =
  | { readonly kind: "remove"; readonly publicKey: PublicKey }
  | { readonly kind: "add"; readonly peer: TunnelPeer }
  | { readonly kind: "update"; readonly peer: TunnelPeer; readonly fields: ReadonlySet<PeerField> };

/** What can change about a peer while it stays the same peer. */
export type PeerField = "presharedKey" | "allowedIps" | "endpoints" | "keepalive" | "pathProbes" | "profile";

/** Finds a peer we have; undefined when we have none of that key. */
export type CurrentPeers = {
  readonly get: (key: PublicKey) => TunnelPeer | undefined;
  readonly keys: () => Iterable<PublicKey>;
};

/** Steps that make `next` the whole set of peers. Peers that stay as they are do not appear. */
export function mapDiff(current: CurrentPeers, next: readonly TunnelPeer[]): readonly PeerChange[] {
  const wanted = new Set(next.map((peer) => peer.publicKey));
  const removals = [...current.keys()].filter((key) => !wanted.has(key));
  return changesOf(current, { upserts: next, removals });
}

/** Steps for the named peers only; removals come first, so that slots and prefixes are free for what follows. */
export function changesOf(
  current: CurrentPeers,
  changes: { readonly upserts: readonly TunnelPeer[]; readonly removals: readonly PublicKey[] },
): readonly PeerChange[] {
  const upserts = new Map(changes.upserts.map((peer) => [peer.publicKey, peer]));
  const removals = new Set(changes.removals.filter((key) => current.get(key) && !upserts.has(key)));
  const steps: PeerChange[] = [...removals].map((publicKey) => ({ kind: "remove", publicKey }));
  for (const peer of upserts.values()) {
    const known = current.get(peer.publicKey);
    if (!known) steps.push({ kind: "add", peer });
    else if (known !== peer) {
      const fields = changedFields(known, peer);
      if (fields.size > 0) steps.push({ kind: "update", peer, fields });
    }
  }
  return steps;
}

function changedFields(known: TunnelPeer, next: TunnelPeer): ReadonlySet<PeerField> {
  const fields = new Set<PeerField>();
  if (!samePresharedKey(known, next)) fields.add("presharedKey");
  if (!sameMembers(known.allowedIps, next.allowedIps)) fields.add("allowedIps");
  if (!sameSequence(known.endpoints, next.endpoints)) fields.add("endpoints");
  if (known.keepaliveSeconds !== next.keepaliveSeconds) fields.add("keepalive");
  if (known.pathProbes !== next.pathProbes) fields.add("pathProbes");
  if (!isSameProfile(known.profile ?? null, next.profile ?? null) || fallbackOf(known) !== fallbackOf(next)) {
    fields.add("profile");
  }
  return fields;
}

function fallbackOf(peer: TunnelPeer): ProfileFallback {
  return peer.profileFallback ?? "refuse";
}

function samePresharedKey(left: TunnelPeer, right: TunnelPeer): boolean {
  if (!left.presharedKey || !right.presharedKey) return left.presharedKey === right.presharedKey;
  return equalBytes(left.presharedKey.expose(), right.presharedKey.expose());
}

function sameSequence(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}

function sameMembers(left: readonly string[], right: readonly string[]): boolean {
  if (sameSequence(left, right)) return true;
  const [leftSet, rightSet] = [new Set(left), new Set(right)];
  return leftSet.size === rightSet.size && [...leftSet].every((item) => rightSet.has(item));
}
