import type { Endpoint } from "./addresses.ts";
import type { PeerId } from "./ids.ts";

/** What a node counts; cumulative since its counter epoch began. */
export type CountersReport = {
  /** Random per agent start: a new one means that all counters began at zero again. */
  readonly counterEpoch: bigint;
  /** The agent's own uptime when the counters were read; differences give rates without trusting wall clocks. */
  readonly uptimeMs: number;
  readonly peers: PeerCounterColumns;
  readonly stages: readonly StageCounters[];
  /** Engine-wide counters by name. */
  readonly totals: readonly NamedCounter[];
  /** Processor time of the whole process. */
  readonly cpuMicroseconds: bigint;
  readonly rssBytes: number;
  /** Rules that something met since the report before; absent = the agent is older than this. */
  readonly rules?: readonly RuleCounters[];
};

/** What met one rule of the map's filter, both ways; cumulative since the counter epoch began. */
export type RuleCounters = {
  /** Its number in the map. */
  readonly rule: number;
  /** Packets that passed, and their bytes. */
  readonly packets: bigint;
  readonly bytes: bigint;
  /** Packets that were dropped. */
  readonly drops: bigint;
  /** Flows that it let begin, or dropped from their first packet on. */
  readonly flows: bigint;
  /** Since a packet met it last. */
  readonly lastHitAgeMs: number | null;
};

/** One entry per peer in every column. */
export type PeerCounterColumns = {
  readonly peerIds: readonly PeerId[];
  readonly rxBytes: readonly bigint[];
  readonly rxPackets: readonly bigint[];
  readonly txBytes: readonly bigint[];
  readonly txPackets: readonly bigint[];
  /** One column per reason; reasons that are zero for all peers may be missing. */
  readonly drops: readonly DropColumn[];
  readonly lastHandshakeAgeMs: readonly (number | null)[];
  readonly lastReceivedAgeMs: readonly (number | null)[];
  readonly sessionAgeMs: readonly (number | null)[];
  /** The endpoint in use. */
  readonly endpoints: readonly (Endpoint | null)[];
};

/** Dropped packets of one reason, one entry per peer. */
export type DropColumn = { readonly reason: string; readonly counts: readonly bigint[] };

export type NamedCounter = { readonly name: string; readonly value: bigint };

/** Work of one stage on one shard. */
export type StageCounters = {
  readonly shard: number;
  readonly stage: string;
  readonly batches: bigint;
  readonly packets: bigint;
  readonly bytes: bigint;
  readonly nanoseconds: bigint;
};

/** Most peers that one report carries. */
export const COUNTER_PEERS_MAX = 20;
/** Most rules that one report carries; the others follow with the next ones. */
export const COUNTER_RULES_MAX = 256;
