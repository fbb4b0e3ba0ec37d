import type {
  Endpoint,
  ExitChoice,
  GroupId,
  IdentityKey,
  Ipv4Address,
  Ipv6Address,
  NetworkId,
  PeerId,
  Prefix,
  ProfileFallback,
  PublicKey,
  ServedRoute,
} from "@weft/protocol";
import type { ConcealPlan } from "./conceal-plan.ts";
import type { NetworkApproval, PeerState } from "./peer-state.ts";

/** A node runs our agent; a static client runs plain WireGuard, and a node speaks for it. */
export const PEER_KINDS = ["node", "client"] as const;
export type PeerKind = (typeof PEER_KINDS)[number];

/** A member of a network, as the database knows it. */
export type Peer = {
  readonly id: PeerId;
  readonly networkId: NetworkId;
  readonly name: string;
  readonly hostname: string;
  readonly kind: PeerKind;
  /** A static client has none. */
  readonly identityKey: IdentityKey | null;
  /** The node that speaks for a static client; nobody does when null. */
  readonly gatewayPeerId: PeerId | null;
  readonly publicKey: PublicKey;
  readonly hostOffset: bigint;
  readonly ipv4: Ipv4Address | null;
  readonly ipv6: Ipv6Address | null;
  readonly os: string;
  readonly arch: string;
  readonly agentVersion: string;
  /** What the node announced at its last start, sorted. */
  readonly capabilities: readonly string[];
  /** Best first. */
  readonly endpoints: readonly PeerEndpoint[];
  /** Traffic of all agent starts together. */
  readonly rxBytes: bigint;
  readonly txBytes: bigint;
  /** The agent start that the last counters came from, and how much of the totals belongs to it. */
  readonly counterEpoch: string | null;
  readonly epochRxBytes: bigint;
  readonly epochTxBytes: bigint;
  readonly lastSeenAt: Date | null;
  readonly state: PeerState;
  /** When the membership ends by itself; never when null. */
  readonly expiresAt: Date | null;
  /** Sorted. */
  readonly groupIds: readonly GroupId[];
  /** Approved ranges behind the peer, sorted. */
  readonly routes: readonly Prefix[];
  /** Approved ranges that the node forwards into, used or in reserve. */
  readonly serves: readonly ServedRoute[];
  /** Through whom its other traffic leaves; its own way when null. */
  readonly exitChoice: ExitChoice | null;
  /** Removed when it was away for so long; kept for good when null. */
  readonly ephemeralSeconds: number | null;
  readonly createdAt: Date;
};

/** Where a peer may be reached, and how we know. */
export type PeerEndpoint = { readonly address: Endpoint; readonly source: "interface" | "observed" };

/** An isolated overlay. */
export type Network = {
  readonly id: NetworkId;
  readonly name: string;
  readonly ipv4Range: Prefix | null;
  readonly ipv6Range: Prefix | null;
  readonly epoch: bigint;
  readonly sequence: bigint;
  /** What nodes do that cannot reach each other under their link profile. */
  readonly profileFallback: ProfileFallback;
  /** Nodes report one flow of so many; none when null. */
  readonly flowSampling: number | null;
  /** How long reported flows are kept. */
  readonly flowKeepHours: number;
  /** Whether somebody must let new peers in. */
  readonly approval: NetworkApproval;
  /** How long a membership lasts until the node joins again; for good when null. */
  readonly membershipSeconds: number | null;
  /** Peers that were away for so long are removed; none is when null. */
  readonly idleRemovalSeconds: number | null;
  /** How its nodes disguise their datagrams; plain WireGuard when null. */
  readonly conceal: ConcealPlan | null;
  readonly createdAt: Date;
};
