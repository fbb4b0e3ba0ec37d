/**
 * Where a membership stands. Only an active peer stands in maps; every other one keeps its row, name and addresses.
 * A pending one waits to be let in, a rejected one was not, a disabled one was shut out for a while.
 */
export const PEER_STATES = ["pending", "active", "expired", "disabled", "rejected"] as const;

export type PeerState = (typeof PEER_STATES)[number];

/** Whether somebody must let new peers of a network in. */
export const NETWORK_APPROVALS = ["automatic", "required"] as const;
export type NetworkApproval = (typeof NETWORK_APPROVALS)[number];

/** What an enrolment key says about letting in: as the network does, let in already, or always to be asked. */
export const KEY_APPROVALS = ["network", "given", "required"] as const;
export type KeyApproval = (typeof KEY_APPROVALS)[number];

/** How a peer that joins with a key begins. */
export function firstState(network: NetworkApproval, key: KeyApproval): "pending" | "active" {
  const approval = key === "network" ? network : key;
  return approval === "required" ? "pending" : "active";
}

/** The state that an expiry means at a moment; the membership ends at the moment itself, not behind it. */
export function stateAt(expiresAt: Date | null, now: Date): "active" | "expired" {
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}

/** The state of a peer whose expiry changes: only a running or ended membership follows it. */
export function stateWithExpiry(state: PeerState, expiresAt: Date | null, now: Date): PeerState {
  return state === "active" || state === "expired" ? stateAt(expiresAt, now) : state;
}

/** Whether a node may take part now, also when nobody has written its expiry down yet. */
export function takesPart(peer: { readonly state: PeerState; readonly expiresAt: Date | null }, now: Date): boolean {
  return peer.state === "active" && stateAt(peer.expiresAt, now) === "active";
}

/** The state that counts now, also when nobody has written an expiry down yet. */
export function currentState(
  peer: { readonly state: PeerState; readonly expiresAt: Date | null },
  now: Date,
): PeerState {
  return peer.state === "active" ? stateAt(peer.expiresAt, now) : peer.state;
}

/** When a membership that begins now ends by itself. */
export function membershipEnd(network: { readonly membershipSeconds: number | null }, now: Date): Date | null {
  return network.membershipSeconds === null ? null : new Date(now.getTime() + network.membershipSeconds * 1_000);
}

/** What an administrator may do about letting a peer take part. */
export type PeerVerdict = "approve" | "reject" | "disable" | "enable";

/** The state after a verdict; `undefined` when it makes no sense for a peer in this state. */
export function afterVerdict(
  verdict: PeerVerdict,
  peer: { readonly state: PeerState; readonly expiresAt: Date | null },
  now: Date,
): PeerState | undefined {
  switch (verdict) {
    case "approve":
      if (peer.state === "pending" || peer.state === "rejected") return "active";
      return peer.state === "active" ? "active" : undefined;
    case "reject":
      return peer.state === "pending" || peer.state === "rejected" ? "rejected" : undefined;
    case "disable":
      return peer.state === "pending" || peer.state === "rejected" ? undefined : "disabled";
    case "enable":
      if (peer.state === "disabled") return stateAt(peer.expiresAt, now);
      return peer.state === "active" ? "active" : undefined;
  }
}

/** When a peer that is away is removed by itself; `null` when it never is. */
export function removalTime(
  peer: { readonly createdAt: Date; readonly lastSeenAt: Date | null; readonly ephemeralSeconds: number | null },
  network: { readonly idleRemovalSeconds: number | null },
): Date | null {
  const seconds = [peer.ephemeralSeconds, network.idleRemovalSeconds].filter((limit) => limit !== null);
  if (seconds.length === 0) return null;
  const least = Math.min(...seconds);
  if (peer.lastSeenAt) return new Date(peer.lastSeenAt.getTime() + least * 1_000);
  // A node that has just joined may still be starting.
  return new Date(peer.createdAt.getTime() + Math.max(least, FIRST_STREAM_SECONDS) * 1_000);
}

/** A new node has this long for its first stream before its absence counts. */
const FIRST_STREAM_SECONDS = 300;
