import { create, type MessageShape } from "@bufbuild/protobuf";

import { familyOf, ipFromBytes, ipToBytes, type IpAddress } from "../addresses.ts";
import { FLOW_RECORDS_MAX, type FlowRecord, type FlowReport } from "../flow-records.ts";
import { peerIds } from "../ids.ts";
import { FlowRecordsSchema, type FlowRecordSchema } from "./agent_pb.ts";
import { atMost, FieldError, oneOf, parsed, safeNumber, within, word } from "./checks.ts";

type WireRecord = MessageShape<typeof FlowRecordSchema>;

export function flowsToWire({ counterEpoch, lost, records }: FlowReport): MessageShape<typeof FlowRecordsSchema> {
  return create(FlowRecordsSchema, { counterEpoch, lost: BigInt(lost), records: records.map(recordToWire) });
}

export function flowsFromWire(message: MessageShape<typeof FlowRecordsSchema>): FlowReport {
  return {
    counterEpoch: message.counterEpoch,
    lost: safeNumber("flows.lost", message.lost),
    records: atMost("flows.records", message.records, FLOW_RECORDS_MAX).map(recordFromWire),
  };
}

function recordToWire(record: FlowRecord) {
  const { id, protocol, began, verdict, state, rxPackets, rxBytes, txPackets, txBytes, drops } = record;
  return {
    id,
    protocol,
    began,
    verdict,
    state,
    rxPackets,
    rxBytes,
    txPackets,
    txBytes,
    drops,
    ...(record.peerId === null ? {} : { peerId: peerIds.toBytes(record.peerId) }),
    local: ipToBytes(record.local),
    remote: ipToBytes(record.remote),
    localPortPlusOne: plusOne(record.localPort),
    remotePortPlusOne: plusOne(record.remotePort),
    icmpTypePlusOne: plusOne(record.icmpType),
    rulePlusOne: BigInt(plusOne(record.rule)),
    ageMs: BigInt(record.ageMs),
    idleMs: BigInt(record.idleMs),
  };
}

function recordFromWire(message: WireRecord): FlowRecord {
  const { id, rxPackets, rxBytes, txPackets, txBytes, drops } = message;
  const [local, remote] = [address(message.local), address(message.remote)];
  if (familyOf(local) !== familyOf(remote))
    throw new FieldError("flows.remote", "of another family than the local end");
  const ageMs = safeNumber("flows.age", message.ageMs);
  return {
    id,
    rxPackets,
    rxBytes,
    txPackets,
    txBytes,
    drops,
    peerId: message.peerId.length === 0 ? null : parsed("flows.peer_id", peerIds.fromBytes(message.peerId)),
    protocol: within("flows.protocol", message.protocol, BYTE),
    local,
    remote,
    localPort: orNull("flows.local_port", message.localPortPlusOne, 65_535),
    remotePort: orNull("flows.remote_port", message.remotePortPlusOne, 65_535),
    icmpType: orNull("flows.icmp_type", message.icmpTypePlusOne, 255),
    began: word("flows.began", message.began, oneOf(["here", "there"])),
    verdict: word("flows.verdict", message.verdict, oneOf(["allow", "deny"])),
    rule: orNull("flows.rule", safeNumber("flows.rule", message.rulePlusOne), 0xffff_ffff),
    ageMs: within("flows.age", ageMs, { min: 0, max: AGE_MS_MAX }),
    idleMs: within("flows.idle", safeNumber("flows.idle", message.idleMs), { min: 0, max: ageMs }),
    state: word("flows.state", message.state, oneOf(["open", "ended"])),
  };
}

function address(bytes: Uint8Array): IpAddress {
  return parsed("flows.address", ipFromBytes(bytes));
}

function plusOne(value: number | null): number {
  return value === null ? 0 : value + 1;
}

function orNull(field: string, valuePlusOne: number, max: number): number | null {
  return valuePlusOne === 0 ? null : within(field, valuePlusOne - 1, { min: 0, max });
}

const BYTE = { min: 0, max: 255 };
/** A hundred years. */
const AGE_MS_MAX = 100 * 365 * 86_400_000;
