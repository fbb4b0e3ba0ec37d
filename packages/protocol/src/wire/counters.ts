import { create, type MessageShape } from "@bufbuild/protobuf";

import { parseEndpoint, type Endpoint } from "../addresses.ts";
import {
  COUNTER_PEERS_MAX,
  COUNTER_RULES_MAX,
  type CountersReport,
  type PeerCounterColumns,
  type RuleCounters,
  type StageCounters,
} from "../counters.ts";
import { CountersSchema, PeerCountersSchema, RuleCountersSchema, StageCountersSchema } from "./agent_pb.ts";
import { atMost, column, FieldError, parsed, safeNumber, text } from "./checks.ts";
import { packIds, unpackIds } from "./map-peers.ts";

export function countersToWire(report: CountersReport): MessageShape<typeof CountersSchema> {
  return create(CountersSchema, {
    counterEpoch: report.counterEpoch,
    uptimeMs: BigInt(report.uptimeMs),
    peers: peersToWire(report.peers),
    stages: stagesToWire(report.stages),
    totalNames: report.totals.map((total) => total.name),
    totalValues: report.totals.map((total) => total.value),
    cpuMicroseconds: report.cpuMicroseconds,
    rssBytes: BigInt(report.rssBytes),
    ...(report.rules ? { rules: rulesToWire(report.rules) } : {}),
  });
}

export function countersFromWire(message: MessageShape<typeof CountersSchema>): CountersReport {
  const names = atMost("counters.totals", message.totalNames, NAMES_MAX);
  const values = column("counters.total_values", message.totalValues, names.length);
  return {
    counterEpoch: message.counterEpoch,
    uptimeMs: safeNumber("counters.uptime", message.uptimeMs),
    peers: message.peers ? peersFromWire(message.peers) : NO_PEERS,
    stages: message.stages ? stagesFromWire(message.stages) : [],
    totals: names.map((name, index) => ({ name: counterName("counters.totals", name), value: values[index] ?? 0n })),
    cpuMicroseconds: message.cpuMicroseconds,
    rssBytes: safeNumber("counters.rss", message.rssBytes),
    ...(message.rules ? { rules: rulesFromWire(message.rules) } : {}),
  };
}

function peersToWire(peers: PeerCounterColumns): MessageShape<typeof PeerCountersSchema> {
  return create(PeerCountersSchema, {
    peerIds: packIds(peers.peerIds),
    rxBytes: [...peers.rxBytes],
    rxPackets: [...peers.rxPackets],
    txBytes: [...peers.txBytes],
    txPackets: [...peers.txPackets],
    lastHandshakeAgePlusOne: agesToWire(peers.lastHandshakeAgeMs),
    lastReceivedAgePlusOne: agesToWire(peers.lastReceivedAgeMs),
    sessionAgePlusOne: agesToWire(peers.sessionAgeMs),
    endpoints: peers.endpoints.map((endpoint) => endpoint ?? ""),
    drops: peers.drops.map((drop) => ({ reason: drop.reason, counts: [...drop.counts] })),
  });
}

function peersFromWire(message: MessageShape<typeof PeerCountersSchema>): PeerCounterColumns {
  const peerIds = unpackIds("counters.peer_ids", message.peerIds);
  const rows = atMost("counters.peer_ids", peerIds, COUNTER_PEERS_MAX).length;
  return {
    peerIds,
    rxBytes: column("counters.rx_bytes", message.rxBytes, rows),
    rxPackets: column("counters.rx_packets", message.rxPackets, rows),
    txBytes: column("counters.tx_bytes", message.txBytes, rows),
    txPackets: column("counters.tx_packets", message.txPackets, rows),
    drops: atMost("counters.drops", message.drops, NAMES_MAX).map((drop) => ({
      reason: counterName("counters.drops", drop.reason),
      counts: column("counters.drops", drop.counts, rows),
    })),
    lastHandshakeAgeMs: agesFromWire("counters.last_handshake", message.lastHandshakeAgePlusOne, rows),
    lastReceivedAgeMs: agesFromWire("counters.last_received", message.lastReceivedAgePlusOne, rows),
    sessionAgeMs: agesFromWire("counters.session_age", message.sessionAgePlusOne, rows),
    endpoints: column("counters.endpoints", message.endpoints, rows).map(endpointOrNull),
  };
}

function rulesToWire(rules: readonly RuleCounters[]): MessageShape<typeof RuleCountersSchema> {
  return create(RuleCountersSchema, {
    rules: rules.map(({ rule }) => rule),
    packets: rules.map(({ packets }) => packets),
    bytes: rules.map(({ bytes }) => bytes),
    drops: rules.map(({ drops }) => drops),
    flows: rules.map(({ flows }) => flows),
    lastHitAgePlusOne: agesToWire(rules.map(({ lastHitAgeMs }) => lastHitAgeMs)),
  });
}

function rulesFromWire(message: MessageShape<typeof RuleCountersSchema>): RuleCounters[] {
  const rows = atMost("counters.rules", message.rules, COUNTER_RULES_MAX).length;
  const packets = column("counters.rules.packets", message.packets, rows);
  const bytes = column("counters.rules.bytes", message.bytes, rows);
  const drops = column("counters.rules.drops", message.drops, rows);
  const flows = column("counters.rules.flows", message.flows, rows);
  const ages = agesFromWire("counters.rules.last_hit", message.lastHitAgePlusOne, rows);
  return message.rules.map((rule, row) => ({
    rule,
    packets: packets[row] ?? 0n,
    bytes: bytes[row] ?? 0n,
    drops: drops[row] ?? 0n,
    flows: flows[row] ?? 0n,
    lastHitAgeMs: ages[row] ?? null,
  }));
}

function stagesToWire(stages: readonly StageCounters[]): MessageShape<typeof StageCountersSchema> {
  const stageNames = [...new Set(stages.map((row) => row.stage))];
  return create(StageCountersSchema, {
    stageNames,
    stage: stages.map((row) => stageNames.indexOf(row.stage)),
    shard: stages.map((row) => row.shard),
    batches: stages.map((row) => row.batches),
    packets: stages.map((row) => row.packets),
    bytes: stages.map((row) => row.bytes),
    nanoseconds: stages.map((row) => row.nanoseconds),
  });
}

function stagesFromWire(message: MessageShape<typeof StageCountersSchema>): StageCounters[] {
  const rows = atMost("stages", message.stage, STAGE_ROWS_MAX).length;
  const names = atMost("stages.names", message.stageNames, NAMES_MAX);
  const shards = column("stages.shard", message.shard, rows);
  const batches = column("stages.batches", message.batches, rows);
  const packets = column("stages.packets", message.packets, rows);
  const bytes = column("stages.bytes", message.bytes, rows);
  const nanoseconds = column("stages.nanoseconds", message.nanoseconds, rows);
  return message.stage.map((name, row) => ({
    shard: shards[row] ?? 0,
    stage: counterName("stages.names", names[name] ?? ""),
    batches: batches[row] ?? 0n,
    packets: packets[row] ?? 0n,
    bytes: bytes[row] ?? 0n,
    nanoseconds: nanoseconds[row] ?? 0n,
  }));
}

function agesToWire(ages: readonly (number | null)[]): bigint[] {
  return ages.map((age) => (age === null ? 0n : BigInt(age) + 1n));
}

function agesFromWire(field: string, ages: readonly bigint[], rows: number): (number | null)[] {
  return column(field, ages, rows).map((age) => (age === 0n ? null : safeNumber(field, age - 1n)));
}

function endpointOrNull(value: string): Endpoint | null {
  return value === "" ? null : parsed("counters.endpoints", parseEndpoint(value));
}

function counterName(field: string, name: string): string {
  if (name === "") throw new FieldError(field, "an empty name");
  return text(field, name, 48);
}

const NAMES_MAX = 128;
const STAGE_ROWS_MAX = 1024;
const NO_PEERS: PeerCounterColumns = {
  peerIds: [],
  rxBytes: [],
  rxPackets: [],
  txBytes: [],
  txPackets: [],
  drops: [],
  lastHandshakeAgeMs: [],
  lastReceivedAgeMs: [],
  sessionAgeMs: [],
  endpoints: [],
};
