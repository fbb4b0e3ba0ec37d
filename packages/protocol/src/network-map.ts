import type { Endpoint, Ipv4Address, Ipv6Address, Prefix } from "./addresses.ts";
import type { ConcealProfileId, NetworkId, PeerId } from "./ids.ts";
import type { PublicKey } from "./keys.ts";
import type { LinkProfile, ProfileFallback } from "./link-profile.ts";
import type { Secret } from "./secret.ts";

/** Everything one node must know. */
export type NetworkMap = {
  readonly self: MapSelf;
  readonly peers: readonly MapPeer[];
  /** First match wins; no match means deny. */
  readonly filter: readonly FilterRule[];
  /** Absent: names are off in this network. */
  readonly names?: MapNames;
};

/** The node's own settings. */
export type MapSelf = {
  readonly peerId: PeerId;
  readonly name: string;
  readonly networkId: NetworkId;
  readonly networkName: string;
  readonly ipv4: Ipv4Address | null;
  readonly ipv6: Ipv6Address | null;
  /** The network's ranges; routed into the tunnel. */
  readonly ipv4Range: Prefix | null;
  readonly ipv6Range: Prefix | null;
  readonly mtu: number;
  /** Wished UDP port; 0 leaves the choice to the agent. */
  readonly listenPort: number;
  /** What to do when a peer cannot be reached under the profile they share; absent = refuse. */
  readonly profileFallback?: ProfileFallback;
  /** How datagrams are disguised; absent = plain WireGuard. */
  readonly conceal?: MapConceal;
  /** One flow of so many is reported to the control plane; absent = none. */
  readonly flowSampling?: number;
  /** Ranges that this node forwards into; absent = none. */
  readonly serves?: readonly ServedRoute[];
  /** Absent = the host's own way. */
  readonly exit?: ExitChoice;
};

/** One version of a conceal profile. The settings hold a key. */
export type MapConceal = {
  readonly profileId: ConcealProfileId;
  readonly version: number;
  /** Lines of key=value; `parseConcealLines` reads them. */
  readonly settings: Secret<string>;
};

/** A range behind this node. "on": hosts in it see this node's address as the source of what comes out of the tunnel. */
export type ServedRoute = { readonly prefix: Prefix; readonly masquerade: "on" | "off" };

/** Through whom everything goes that no route names. */
export type ExitChoice = {
  readonly peerId: PeerId;
  /** The host's local networks beside the tunnel. */
  readonly lan: "reachable" | "blocked";
  /** Traffic while the exit node does not answer: nowhere, or past the tunnel. */
  readonly lost: "blocked" | "direct";
};

/** Another member that this node may see. */
export type MapPeer = {
  readonly id: PeerId;
  readonly name: string;
  readonly publicKey: PublicKey;
  readonly presharedKey?: Secret<Uint8Array>;
  readonly ipv4: Ipv4Address | null;
  readonly ipv6: Ipv6Address | null;
  /**
   * Set for a static client, which runs plain WireGuard: the peer through which it is reached. That peer alone has a tunnel
   * to it.
   */
  readonly gateway?: PeerId;
  /** Networks behind the peer, beside its own addresses. */
  readonly routes: readonly Prefix[];
  /** Candidates, best first. */
  readonly endpoints: readonly Endpoint[];
  /** 0 = off. */
  readonly keepaliveSeconds: number;
  /** What both ends do beyond plain WireGuard; absent = nothing. */
  readonly profile?: LinkProfile;
};

/** One packet rule as the engine applies it. */
export type FilterRule = {
  /** Number of the rule inside this map, for drop counters; 32 bits. */
  readonly id: number;
  readonly action: "allow" | "deny";
  /** As seen from the node that applies it. */
  readonly direction: "in" | "out" | "both";
  /** IP protocol number; `null` = any. */
  readonly protocol: number | null;
  /** `null` = any address; an empty set = none. Rules may share one set. */
  readonly source: AddressSet | null;
  readonly destination: AddressSet | null;
  /** Numbers by which a change names the sets, 32 bits; absent = a set changes with the whole filter only. */
  readonly sourceSet?: number;
  readonly destinationSet?: number;
  /** Destination ports of TCP or UDP; `null` = any, and packets without ports. */
  readonly ports: readonly PortRange[] | null;
  /** Absent = any. */
  readonly icmp?: IcmpMatch;
  /** Absent: answers of a flow that the rule allows pass too. "judged": they need a rule of their own. */
  readonly replies?: "judged";
};

/** Addresses that a rule speaks about. */
export type AddressSet = readonly Prefix[];

/** Addresses that come into a set of the filter, and those that leave it. */
export type AddressSetChange = { readonly set: number; readonly added: AddressSet; readonly removed: AddressSet };

/** Ports, both ends included. */
export type PortRange = { readonly low: number; readonly high: number };

/** An ICMP or ICMPv6 message; code `null` = any. */
export type IcmpMatch = { readonly type: number; readonly code: number | null };

/** Names of the network beside those of its peers, and where other names are asked. */
export type MapNames = {
  /** What names of this network end in. */
  readonly domain: string;
  /** "leave": the node answers names and does not touch the resolver of its host. */
  readonly host: "use" | "leave";
  /** Tried behind a short name, after the domain of the network. */
  readonly searchDomains: readonly string[];
  readonly records: readonly NameRecord[];
  readonly nameservers: readonly MapNameservers[];
};

/** A name that an administrator gave. */
export type NameRecord = {
  /** Below the domain of the network; "@" is the domain itself. */
  readonly name: string;
  readonly ttlSeconds: number;
} & (
  | { readonly type: "A"; readonly address: Ipv4Address }
  | { readonly type: "AAAA"; readonly address: Ipv6Address }
  /** One label is a name of the network. */
  | { readonly type: "CNAME"; readonly target: string }
);

/** Servers that are asked about some domains; about everything when there are none. */
export type MapNameservers = { readonly domains: readonly string[]; readonly servers: readonly Endpoint[] };

/** What changes between two sequences of one epoch. */
export type MapDelta = {
  readonly self?: MapSelf;
  readonly upserts: readonly MapPeer[];
  readonly removals: readonly PeerId[];
  /** The whole new filter. */
  readonly filter?: readonly FilterRule[];
  /** The present filter with other addresses; never beside a new one. */
  readonly filterSets?: readonly AddressSetChange[];
  /** Whole; `null`: names are off from now on. */
  readonly names?: MapNames | null;
};

/** Identity and version of a map: sequences rise inside an epoch, an epoch changes when history may be lost. */
export type MapVersion = { readonly epoch: bigint; readonly sequence: bigint };
