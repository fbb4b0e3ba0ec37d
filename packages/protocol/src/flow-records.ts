import type { IpAddress } from "./addresses.ts";
import type { PeerId } from "./ids.ts";

/** Flows of one node that ended or go on for long. */
export type FlowReport = {
  /** See `CountersReport.counterEpoch`: numbers of flows hold inside it. */
  readonly counterEpoch: bigint;
  /** Records that should have been here and were not made, because flows came too fast. */
  readonly lost: number;
  readonly records: readonly FlowRecord[];
};

/** One flow as its node saw it. Counts are those since it began; a later record of the flow replaces this one. */
export type FlowRecord = {
  /** 64 bits. */
  readonly id: bigint;
  /** The peer at the other end; `null` = gone. */
  readonly peerId: PeerId | null;
  /** IP protocol number. */
  readonly protocol: number;
  readonly local: IpAddress;
  readonly remote: IpAddress;
  /** `null` for what has no ports. */
  readonly localPort: number | null;
  readonly remotePort: number | null;
  /** Type of the ICMP message that began it. */
  readonly icmpType: number | null;
  /** Which end sent the first packet. */
  readonly began: "here" | "there";
  readonly verdict: "allow" | "deny";
  /** Number of the rule in the map; `null` = no rule matched. */
  readonly rule: number | null;
  readonly rxPackets: bigint;
  readonly rxBytes: bigint;
  readonly txPackets: bigint;
  readonly txBytes: bigint;
  /** Packets that were dropped. */
  readonly drops: bigint;
  /** Since its first packet. */
  readonly ageMs: number;
  /** Since the last packet that passed; of a denied flow, since its last one. */
  readonly idleMs: number;
  readonly state: "open" | "ended";
};

/** Most records of one report. */
export const FLOW_RECORDS_MAX = 500;
/** Rarest sampling: one flow of so many. */
export const FLOW_SAMPLING_MAX = 10_000;
