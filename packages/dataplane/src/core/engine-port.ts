import type { ConcealRange, IcmpMatch, LinkCipher, PortRange } from "@weft/protocol";
import type { WireDisguise } from "./encode-conceal.ts";
import type { SessionKeys } from "./handshake/session-keys.ts";

/** An address datagrams go to or come from, as the engine writes it. */
export type WireEndpoint = {
  /** 4 or 16 bytes. */
  readonly address: Uint8Array;
  readonly port: number;
};

/** An address range as the engine writes it. */
export type WirePrefix = { readonly address: Uint8Array; readonly length: number };

/** One filter rule as the engine writes it. */
export type WireRule = {
  readonly id: number;
  readonly action: "deny" | "allow";
  readonly direction: "in" | "out" | "both";
  /** `null` = any. */
  readonly protocol: number | null;
  /** Places of address sets; `null` = any address. */
  readonly source: number | null;
  readonly destination: number | null;
  /** Empty = any, and packets without ports. */
  readonly ports: readonly PortRange[];
  readonly icmp: IcmpMatch | null;
  readonly replies: "pass" | "judged";
};

/** Rules and the address sets they name. */
export type WireFilter = { readonly sets: readonly (readonly WirePrefix[])[]; readonly rules: readonly WireRule[] };

/** Whether checksums are left to the tunnel under a session; "receive-only" = agreed on, but switched off here. */
export type SessionElision = "off" | "on" | "receive-only";

/** Whether extension messages exist under a session; in plain WireGuard there are none. */
export type SessionExtensions = "none" | "agreed";

/** Ages in milliseconds at which sending and receiving ask for the next session, and at which this one ends. */
export type SessionAgeing = {
  readonly rekeyOnSendMs: number;
  readonly rekeyOnReceiveMs: number;
  readonly rejectAfterMs: number;
};

/** Milliseconds from which the engine draws each time. */
export type Silence = {
  /** From data received to the empty packet that answers it. */
  readonly keepaliveMs: ConcealRange;
  /** From data sent to `no-answer`. */
  readonly noAnswerMs: ConcealRange;
};

/** Everything the slow path can ask of the engine; docs/design/engine/commands.md has the byte layout. */
export type EngineCommand =
  | { readonly kind: "add-peer"; readonly slot: number; readonly keepaliveSeconds: number }
  | { readonly kind: "remove-peer"; readonly slot: number }
  | { readonly kind: "set-allowed-ips"; readonly slot: number; readonly prefixes: readonly WirePrefix[] }
  | { readonly kind: "set-endpoint"; readonly slot: number; readonly endpoint: WireEndpoint | null }
  | { readonly kind: "set-keepalive"; readonly slot: number; readonly keepaliveSeconds: number }
  | {
      readonly kind: "install-session";
      readonly slot: number;
      readonly keys: SessionKeys;
      readonly ageMs: number;
      readonly cipher: LinkCipher;
      readonly elision: SessionElision;
      /** Whether both ends agreed on extension messages under it. */
      readonly extensions: SessionExtensions;
      /** UDP source ports that both ends agreed on; 1 = the one of plain WireGuard. */
      readonly lanes: number;
      /** null = WireGuard's own. */
      readonly ageing: SessionAgeing | null;
    }
  | { readonly kind: "retire-session"; readonly localIndex: number }
  | {
      readonly kind: "send-handshake";
      readonly slot: number | null;
      readonly endpoint: WireEndpoint | null;
      readonly message: Uint8Array;
    }
  | { readonly kind: "handshake-gave-up"; readonly slot: number }
  | { readonly kind: "set-cookie-secrets"; readonly current: Uint8Array; readonly previous: Uint8Array }
  | ({ readonly kind: "set-filter" } & WireFilter)
  | { readonly kind: "set-mtu"; readonly mtu: number }
  | {
      readonly kind: "set-path-mtu";
      readonly slot: number;
      /** Null = no bound of its own. */
      readonly payload: number | null;
      readonly probes: "answered" | "ignored";
      /** "proven": the peer answered at that size, so reports of routers bind nothing. */
      readonly bound: "believed" | "proven";
    }
  | { readonly kind: "send-probe"; readonly slot: number; readonly size: number; readonly id: number }
  /** Null = plain WireGuard. */
  | { readonly kind: "set-conceal"; readonly disguise: WireDisguise | null }
  | { readonly kind: "set-silence"; readonly silence: Silence };

/** Everything the engine tells the slow path. */
export type EngineEvent =
  | {
      readonly kind: "handshake-message";
      readonly from: WireEndpoint;
      readonly message: Uint8Array;
      readonly load: "normal" | "high";
      readonly mac2: "valid" | "absent";
    }
  | { readonly kind: "cookie-wanted"; readonly from: WireEndpoint; readonly message: Uint8Array }
  | {
      readonly kind: "want-handshake";
      readonly slot: number;
      readonly reason: "no-session" | "old-sent" | "old-received";
    }
  | { readonly kind: "session-confirmed"; readonly slot: number; readonly localIndex: number }
  | { readonly kind: "endpoint-moved"; readonly slot: number; readonly endpoint: WireEndpoint | null }
  | { readonly kind: "no-answer"; readonly slot: number }
  | { readonly kind: "queue-overflow"; readonly dropped: number }
  | {
      readonly kind: "io-fault";
      readonly operation: "tun-read" | "tun-write" | "udp-receive" | "udp-send" | "poll";
      readonly severity: "passing" | "fatal";
      readonly errno: number;
    }
  | { readonly kind: "session-expired"; readonly slot: number; readonly localIndex: number }
  /** A worker panicked; the engine has ended. */
  | { readonly kind: "shard-failed"; readonly shard: number; readonly message: string }
  | { readonly kind: "probe-answered"; readonly slot: number; readonly id: number; readonly size: number }
  | { readonly kind: "path-too-big"; readonly slot: number; readonly payload: number }
  | { readonly kind: "large-sent"; readonly slot: number };

export const RECORD_HEADER_BYTES = 8;
export const ENDPOINT_BYTES = 20;
export const PREFIX_BYTES = 20;
/** A rule without its port ranges. */
export const RULE_BYTES = 24;
export const PORT_RANGE_BYTES = 4;
export const FILTER_VERSION = 2;
/** The set number that means "any address". */
export const ANY_ADDRESS = 0xffff_ffff;
/** The slot number that means "no peer". */
export const NO_SLOT = 0xffff_ffff;

/** The fast path as the slow path sees it; the addon's `Engine` and the in-memory one both fit. */
export type Engine = {
  readonly listenPort: number;
  readonly tunName: string;
  readonly shardCount: number;
  /** Throws when the batch does not decode. */
  readonly apply: (commands: Uint8Array) => void;
  /** Writes whole event records and returns the bytes written; 0 = nothing left. */
  readonly takeEvents: (into: Uint8Array) => number;
  /** Rows written; negative = rows needed, when `into` was too small. */
  readonly readPeerCounters: (into: BigUint64Array) => number;
  readonly readShardCounters: (into: BigUint64Array) => number;
  readonly readTotals: (into: BigUint64Array) => number;
  readonly readRuleCounters: (into: BigUint64Array) => number;
  /** Rows of flows from a position of the table on; fewer than fit mean the end. */
  readonly readFlows: (from: bigint, into: BigUint64Array) => number;
  /**
   * Rows of flows that ended since the last call or go on for long, of one flow in `sampling` (0 = none). `lost`: ends that
   * came too fast.
   */
  readonly takeFlowRecords: (
    sampling: number,
    into: BigUint64Array,
  ) => { readonly rows: number; readonly lost: number };
  readonly status: () => EngineStatus;
  readonly close: () => void;
  /** Makes a worker panic; throws unless the process allows it. */
  readonly injectPanic: (shard: number) => void;
};

/** The part of the engine's own report that the slow path passes on. */
type EngineStatus = {
  readonly offloads: readonly {
    readonly name: string;
    readonly state: "on" | "off" | "fallback";
    readonly reason?: string;
  }[];
  readonly lanePorts?: readonly number[];
  readonly laneProblem?: string;
};
