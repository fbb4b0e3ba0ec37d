import { flowRecordIds } from "@weft/protocol";
import type { FlowRecord, FlowRecordId, IpAddress, NetworkId, PeerId, RuleId } from "@weft/protocol";

/** A flow as it is stored: from the end that began to the one that it called. */
export type StoredFlow = {
  readonly id: FlowRecordId;
  readonly networkId: NetworkId;
  readonly peerId: PeerId;
  readonly otherPeerId: PeerId | null;
  readonly protocol: number;
  readonly source: IpAddress;
  readonly destination: IpAddress;
  readonly sourcePort: number | null;
  readonly destinationPort: number | null;
  readonly icmpType: number | null;
  readonly direction: "in" | "out";
  readonly verdict: "allow" | "deny";
  readonly ruleId: RuleId | null;
  readonly rxPackets: bigint;
  readonly rxBytes: bigint;
  readonly txPackets: bigint;
  readonly txBytes: bigint;
  readonly drops: bigint;
  readonly startedAt: Date;
  readonly lastAt: Date;
  readonly state: "open" | "ended";
};

/** Who reported a flow, and what the server knows about the things it names. */
export type FlowSource = {
  readonly networkId: NetworkId;
  readonly peerId: PeerId;
  readonly counterEpoch: bigint;
  readonly nowMs: number;
  readonly isMember: (id: PeerId) => boolean;
  /** The rule that nodes call by this number. */
  readonly ruleOf: (number: number) => RuleId | undefined;
  readonly hash: (text: string) => Uint8Array;
};

/** Turns what a node said into what is kept. Peers and rules that are not of its network are left out. */
export function storedFlow(record: FlowRecord, from: FlowSource): StoredFlow {
  const { protocol, icmpType, verdict, state } = record;
  const isOut = record.began === "here";
  const [source, destination] = isOut ? [record.local, record.remote] : [record.remote, record.local];
  const [sourcePort, destinationPort] = isOut
    ? [record.localPort, record.remotePort]
    : [record.remotePort, record.localPort];
  const { peerId: other } = record;
  return {
    id: flowId(from, record.id),
    networkId: from.networkId,
    peerId: from.peerId,
    otherPeerId: other !== null && from.isMember(other) ? other : null,
    protocol,
    icmpType,
    verdict,
    state,
    source,
    destination,
    sourcePort,
    destinationPort,
    direction: isOut ? "out" : "in",
    ruleId: record.rule === null ? null : (from.ruleOf(record.rule) ?? null),
    rxPackets: storable(record.rxPackets),
    rxBytes: storable(record.rxBytes),
    txPackets: storable(record.txPackets),
    txBytes: storable(record.txBytes),
    drops: storable(record.drops),
    startedAt: momentBefore(from.nowMs, record.ageMs),
    lastAt: momentBefore(from.nowMs, record.idleMs),
  };
}

/** The same for every report of one flow. */
function flowId({ peerId, counterEpoch, hash }: FlowSource, number: bigint): FlowRecordId {
  const made = flowRecordIds.fromBytes(hash(`${peerId} ${counterEpoch} ${number}`).subarray(0, 16));
  if (!made.ok) throw new Error("a hash has 16 bytes at least");
  return made.value;
}

/** A node's ages are bounded by its own word only: nothing is older than this server's time. */
function momentBefore(nowMs: number, ageMs: number): Date {
  return new Date(Math.max(0, nowMs - ageMs));
}

/** The database's numbers have 63 bits. */
function storable(count: bigint): bigint {
  return count < STORED_MAX ? count : STORED_MAX;
}

const STORED_MAX = 2n ** 63n - 1n;
