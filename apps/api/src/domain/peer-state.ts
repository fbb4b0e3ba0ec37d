/** Where a membership stands. An expired peer keeps its row, name and addresses, and stands in no map. */
export const PEER_STATES = ["active", "expired"] as const;

export type PeerState = (typeof PEER_STATES)[number];

/** The state that an expiry means at a moment; the membership ends at the moment itself, not behind it. */
export function stateAt(expiresAt: Date | null, now: Date): PeerState {
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}

/** Whether a node may take part now, also when nobody has written its expiry down yet. */
export function takesPart(peer: { readonly state: PeerState; readonly expiresAt: Date | null }, now: Date): boolean {
  return peer.state === "active" && stateAt(peer.expiresAt, now) === "active";
}
