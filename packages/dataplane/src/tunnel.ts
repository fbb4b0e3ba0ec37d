import type {
  ConcealProfile,
  Endpoint,
  FilterRule,
  IpAddress,
  LinkProfile,
  Prefix,
  ProfileFallback,
  PublicKey,
  Result,
  Secret,
} from "@weft/protocol";

/** One peer as the tunnel should know it. */
export type TunnelPeer = {
  readonly publicKey: PublicKey;
  /** 32 bytes mixed into the handshake; both ends must hold the same. */
  readonly presharedKey?: Secret<Uint8Array>;
  /** Inner addresses this peer may send from and receives packets for. */
  readonly allowedIps: readonly Prefix[];
  /** Addresses the peer may be reached at, best first; may be empty (then the peer has to call us). */
  readonly endpoints: readonly Endpoint[];
  /** Seconds between persistent keepalives; 0 = none. */
  readonly keepaliveSeconds: number;
  /** What both ends do beyond plain WireGuard; absent = nothing. Both must hold the same. */
  readonly profile?: LinkProfile;
  /**
   * What both ends did before `profile`, for a peer that is new to this tunnel and may still be called by an end that has
   * not heard of the change. A tunnel remembers it by itself when `profile` changes; absent = nothing else is accepted.
   */
  readonly profileBefore?: LinkProfile | "plain";
  /** Whether we may go on in plain WireGuard when the peer does not answer under the profile; absent = refuse. */
  readonly profileFallback?: ProfileFallback;
  /** Whether it is asked, inside the tunnel, which sizes reach it; only in sessions under a `profile`. Default: not. */
  readonly pathProbes?: "sent" | "not-sent";
};

/** Changes to some peers; all others stay as they are. */
export type PeerChanges = {
  readonly upserts: readonly TunnelPeer[];
  readonly removals: readonly PublicKey[];
};

/** What the tunnel's own side looks like inside the network. */
export type TunnelSelf = {
  /** Addresses set on the interface. */
  readonly addresses: readonly Prefix[];
  /** Network ranges routed into the interface. */
  readonly routes: readonly Prefix[];
  readonly mtu: number;
  /** Largest MTU the interface is given when paths carry more than `mtu`; default: `mtu`, which then stays. */
  readonly mtuMax?: number;
};

/** Where time comes from; tests bring their own. */
export type TunnelClock = {
  /** Milliseconds since an arbitrary moment; never goes back. */
  readonly nowMs: () => number;
  /** Milliseconds since 1970; may jump. */
  readonly unixMs: () => number;
};

/** Tuning of the engine; every field has a default that fits most machines. */
export type EngineTuning = {
  readonly tunOffload?: "auto" | "tcp" | "off";
  readonly shards?: number;
  readonly peersMax?: number;
  /** Most UDP source ports towards one peer, 1 (the default) to 8; used only where the profile of a session has lanes. */
  readonly lanes?: number;
  readonly socketBufferBytes?: number;
  readonly udpGso?: "auto" | "off";
  readonly udpGro?: "auto" | "off";
  readonly udpBatch?: "auto" | "off";
  /** What workers wait with and read the TUN device through; io_uring falls back to epoll where the kernel refuses it. */
  readonly io?: "auto" | "epoll" | "io_uring";
  /** Off: no packet is sent with its checksum left to the tunnel, whatever the profile says. */
  readonly checksumElision?: "auto" | "off";
  readonly gsoMaxSegments?: number;
  readonly gsoEqualTail?: "auto" | "allow" | "avoid";
  readonly groFlows?: number;
  /** UDP destination ports inside the tunnel whose datagrams are never merged; old kernels drop merged ones of other tunnels. */
  readonly udpPortsNeverMerged?: number[];
  /** Packets the transmit queue of the interface holds. */
  readonly tunQueueLen?: number;
  /** Flows the filter remembers; 131,072 when absent. */
  readonly flowsMax?: number;
  /** Niceness of the workers, -20 to 19, default -10; without the right to raise priority they keep that of the process. */
  readonly niceness?: number;
  readonly firewallMark?: number;
  /** For tests of long runs: age at which the initiator of a session starts the next one, 2 to 120 (the default) s. */
  readonly rekeyAfterSeconds?: number;
  /** Whether workers count and time their stages. */
  readonly stageTiming?: "on" | "off";
};

export type TunnelOptions = TunnelSelf & {
  readonly interfaceName: string;
  /** UDP port; 0 = any free one. */
  readonly listenPort: number;
  /** X25519 private key, 32 bytes. */
  readonly privateKey: Secret<Uint8Array>;
  readonly engine?: EngineTuning;
  /** How datagrams are disguised; absent = plain WireGuard. */
  readonly conceal?: ConcealProfile;
  readonly clock?: TunnelClock;
  /** Returns that many unpredictable bytes. */
  readonly random?: (byteCount: number) => Uint8Array;
  /** Called from the event loop, never from inside a call into the tunnel. */
  readonly onEvent: (event: TunnelEvent) => void;
};

/** A running tunnel: one interface, one UDP port, its peers. */
export type Tunnel = {
  readonly publicKey: PublicKey;
  readonly listenPort: number;
  readonly interfaceName: string;
  /** Makes this list the whole set of peers; unchanged peers keep session, counters and queues. */
  replacePeers(peers: readonly TunnelPeer[]): Result<void, TunnelError>;
  /** Changes only the named peers; the cost depends on the change, not on how many peers there are. */
  changePeers(changes: PeerChanges): Result<void, TunnelError>;
  /** Makes this list the whole filter: first match wins, no match = deny. A tunnel starts with an empty one. */
  replaceFilter(rules: readonly FilterRule[]): Result<void, TunnelError>;
  /** Disguises every datagram from the next one on; null = plain WireGuard. Sessions stay. */
  replaceConceal(profile: ConcealProfile | null): Result<void, TunnelError>;
  /** Starts handshakes at once with peers that an earlier tunnel had sessions with; those it does not have are left out. */
  resumePeers(peers: readonly ResumePoint[]): Result<void, TunnelError>;
  /** Re-addresses the interface without touching sessions. */
  replaceSelf(self: TunnelSelf): Result<void, TunnelError>;
  /** Every peer's present state. */
  peers(): readonly PeerState[];
  /** One peer's present state; null when there is no such peer. */
  peer(publicKey: PublicKey): PeerState | null;
  /** Reads all counters. The arrays belong to the tunnel and are overwritten by the next call. */
  counters(): TunnelCounters;
  /** The flows with the most bytes, at most so many; judged by the rules of now. */
  flows(flowsMax: number): FlowList;
  /**
   * Flows that ended since the last call, that are some seconds old, or that went on for half a minute since their last
   * record; of one flow in `sampling`, 0 = none. At most so many; what does not fit comes with a later call.
   */
  takeFlowRecords(wanted: { readonly sampling: number; readonly recordsMax: number }): TakenFlows;
  status(): TunnelStatus;
  /** Removes the interface, ends the threads, wipes the keys. May be called twice. */
  close(): void;
  /** Makes a worker panic; refused unless the process was started with WEFT_DEBUG_FAULTS=1. */
  injectPanic(shard: number): Result<void, TunnelError>;
};

/** Where an earlier tunnel stood with a peer. */
export type ResumePoint = {
  readonly publicKey: PublicKey;
  /** The address its packets went to last. */
  readonly endpoint: Endpoint | null;
};

/** Where a peer's session stands. */
export type PeerSession =
  | { readonly state: "none" }
  | { readonly state: "handshaking"; readonly startedAtMs: number; readonly attempts: number }
  | { readonly state: "up"; readonly sinceMs: number };

/** What is done with a peer beyond plain WireGuard. */
export type PeerProfile = {
  /**
   * "plain": nothing is wanted. "pending": no session yet. "active": the session carries what is wanted. "changing": it
   * still carries what was wanted before. "fallback": it carries less, because the peer did not answer under the profile.
   */
  readonly state: "plain" | "pending" | "active" | "changing" | "fallback";
  readonly wanted: LinkProfile | null;
  /** That of the session; null without one and for plain WireGuard. */
  readonly used: LinkProfile | null;
};

export type PeerState = {
  readonly publicKey: PublicKey;
  /** Address packets are sent to at present. */
  readonly endpoint: Endpoint | null;
  /** "configured": from the map; "roamed": learnt from an authenticated packet. */
  readonly endpointSource: "configured" | "roamed" | "none";
  /** Milliseconds since 1970 of the last completed handshake. */
  readonly lastHandshakeAtMs: number | null;
  /** Times in it are those of `TunnelClock.nowMs`. */
  readonly session: PeerSession;
  readonly profile: PeerProfile;
  readonly pathMtu: PeerPathMtu;
};

/** How much the path to a peer carries, and how that is known. */
export type PeerPathMtu =
  | { readonly state: "unknown" }
  | {
      /** docs/design/path-mtu/design.md explains the states. */
      readonly state: "assumed" | "searching" | "verified" | "reported" | "unanswered";
      /** Longest inner packet that goes out whole. */
      readonly mtu: number;
      /** The datagram that carries it, without IP and UDP header. */
      readonly datagramBytes: number;
    };

/** Rows of equal width in one flat array: value(row, column) = values[row * columns.length + column]. */
export type CounterTable = {
  readonly columns: readonly string[];
  readonly rows: number;
  readonly values: BigUint64Array;
};

export type TunnelCounters = {
  /** `publicKeys[row]` names the peer of a row; undefined = removed since the engine was asked. */
  readonly peers: CounterTable & { readonly publicKeys: readonly (PublicKey | undefined)[] };
  /** One row per shard and stage; column "stage" indexes `stageNames`. */
  readonly shards: CounterTable & { readonly stageNames: readonly string[] };
  /** One row: drops and system calls of the whole engine. */
  readonly totals: CounterTable;
  /** One row per rule of the filter, in its order. */
  readonly rules: CounterTable;
  readonly handshakes: HandshakeCounters;
};

/** Flows of the filter's memory. */
export type FlowList = { readonly total: number; readonly flows: readonly FlowState[] };

/** One flow: who, under which rule, how much. */
export type FlowState = {
  /** The peer at the other end; null = removed since. */
  readonly publicKey: PublicKey | null;
  /** IP protocol number. */
  readonly protocol: number;
  readonly local: IpAddress;
  readonly remote: IpAddress;
  /** Null for what has no ports. */
  readonly localPort: number | null;
  readonly remotePort: number | null;
  /** Type of the ICMP message that began it. */
  readonly icmpType: number | null;
  /** Which end sent the first packet. */
  readonly began: "here" | "there";
  readonly verdict: "allow" | "deny";
  /** Number of the rule behind the verdict; null = no rule matched. */
  readonly rule: number | null;
  readonly rxPackets: number;
  readonly rxBytes: number;
  readonly txPackets: number;
  readonly txBytes: number;
  /** Packets that were dropped. */
  readonly drops: number;
  readonly ageMs: number;
  /** Since the last packet that passed. */
  readonly idleMs: number;
};

/** Records of flows. */
export type TakenFlows = {
  readonly records: readonly RecordedFlow[];
  /** Ends of flows that came too fast to be recorded, since the last call. */
  readonly lost: number;
};

/** A flow with a number that no other one of its tunnel has. */
export type RecordedFlow = FlowState & { readonly id: bigint; readonly state: "open" | "ended" };

/** What the slow path counted since the tunnel started. */
export type HandshakeCounters = {
  readonly initiationsSent: number;
  readonly initiationsAccepted: number;
  readonly responsesAccepted: number;
  readonly cookieRepliesSent: number;
  readonly cookieRepliesAccepted: number;
  readonly gaveUp: number;
  readonly droppedMalformed: number;
  readonly droppedUnknownPeer: number;
  readonly droppedReplay: number;
  readonly droppedTooFast: number;
  readonly droppedBadTag: number;
  readonly droppedUnknownIndex: number;
  readonly droppedUnderLoad: number;
  readonly droppedQueueFull: number;
};

/** One kernel feature, whether it is in use, and why not if not. */
export type OffloadState = {
  readonly name: string;
  readonly state: "on" | "off" | "fallback";
  readonly reason: string | null;
};

export type TunnelStatus = {
  readonly interfaceName: string;
  readonly listenPort: number;
  readonly shards: number;
  readonly offloads: readonly OffloadState[];
  /** Ports of the lanes behind the first, and why there are fewer than asked for. */
  readonly lanes: { readonly ports: readonly number[]; readonly problem: string | null };
  readonly peerCount: number;
};

export type TunnelEvent =
  | { readonly kind: "peer-up"; readonly publicKey: PublicKey; readonly endpoint: Endpoint | null }
  | { readonly kind: "peer-down"; readonly publicKey: PublicKey }
  | { readonly kind: "endpoint-moved"; readonly publicKey: PublicKey; readonly endpoint: Endpoint }
  | { readonly kind: "handshake-failed"; readonly publicKey: PublicKey; readonly attempts: number }
  /** A session under the wanted profile (null = plain WireGuard) works: the one before is not accepted any more. */
  | { readonly kind: "profile-settled"; readonly publicKey: PublicKey; readonly profile: LinkProfile | null }
  | { readonly kind: "fault"; readonly fault: TunnelFault }
  /** A worker panicked and the engine has ended; the tunnel has to be closed and made again. */
  | { readonly kind: "engine-failed"; readonly shard: number; readonly message: string }
  /** The interface should have this MTU; the tunnel has given it already. */
  | { readonly kind: "mtu-wanted"; readonly mtu: number };

/** Trouble of the engine; after a fatal one the tunnel has to be closed and made again. */
export type TunnelFault = {
  readonly operation: "tun-read" | "tun-write" | "udp-receive" | "udp-send" | "poll";
  readonly severity: "passing" | "fatal";
  /** The operating system's error number. */
  readonly errno: number;
};

/** `message` is a sentence for a person and says what to do. */
export type TunnelError =
  | { readonly code: "addon_missing"; readonly message: string }
  | { readonly code: "tun_permission"; readonly message: string }
  | { readonly code: "tun_busy"; readonly message: string }
  | { readonly code: "port_in_use"; readonly message: string; readonly port: number }
  | { readonly code: "invalid_option"; readonly message: string }
  | { readonly code: "too_many_peers"; readonly message: string; readonly peersMax: number }
  | { readonly code: "interface_failed"; readonly message: string; readonly errno: number | null }
  | { readonly code: "engine_failed"; readonly message: string };
