import { ipFrom, type IpAddress, type PublicKey } from "@weft/protocol";
import type { Engine } from "../core/engine-port.ts";
import type { FlowColumn } from "../core/flow-row.ts";
import type { FlowList, FlowState, TakenFlows } from "../tunnel.ts";

/** Reads the flow table page by page and keeps the flows with the most bytes. */
export function readFlows(input: {
  readonly engine: Pick<Engine, "readFlows">;
  readonly columns: readonly string[];
  readonly publicKeyAt: (slot: number) => PublicKey | undefined;
  readonly flowsMax: number;
}): FlowList {
  const { engine, columns, flowsMax } = input;
  const page = new BigUint64Array(columns.length * PAGE_ROWS);
  const at = columnFinder(columns);
  let kept: FlowState[] = [];
  let total = 0;
  let from = 0n;
  for (;;) {
    const rows = engine.readFlows(from, page);
    for (let row = 0; row < rows; row += 1) {
      const cell = (name: FlowColumn): bigint => page[row * columns.length + at(name)] ?? 0n;
      kept.push(flowOf(cell, input.publicKeyAt));
      from = cell("position") + 1n;
    }
    total += rows;
    if (kept.length > 2 * flowsMax || rows < PAGE_ROWS) kept = largest(kept, flowsMax);
    if (rows < PAGE_ROWS) return { total, flows: kept };
  }
}

/** Reads what is to be recorded, into an array that is kept. */
export function createRecordReader(input: {
  readonly engine: Pick<Engine, "takeFlowRecords">;
  readonly columns: readonly string[];
  readonly publicKeyAt: (slot: number) => PublicKey | undefined;
}): (wanted: { readonly sampling: number; readonly recordsMax: number }) => TakenFlows {
  const { engine, columns, publicKeyAt } = input;
  const at = columnFinder(columns);
  let page = new BigUint64Array(0);
  return ({ sampling, recordsMax }) => {
    const words = sampling === 0 ? 0 : columns.length * recordsMax;
    if (page.length !== words) page = new BigUint64Array(words);
    const { rows, lost } = engine.takeFlowRecords(sampling, page);
    const records = Array.from({ length: rows }, (_, row) => {
      const cell = (name: FlowColumn): bigint => page[row * columns.length + at(name)] ?? 0n;
      const state = cell("ended") === 1n ? ("ended" as const) : ("open" as const);
      return { ...flowOf(cell, publicKeyAt), id: cell("flow"), state };
    });
    return { records, lost };
  };
}

function columnFinder(columns: readonly string[]): (name: FlowColumn) => number {
  const places = new Map(columns.map((name, place) => [name, place]));
  return (name) => {
    const place = places.get(name);
    if (place === undefined) throw new Error(`the engine's flows have a column "${name}"`);
    return place;
  };
}

function largest(flows: FlowState[], count: number): FlowState[] {
  const size = (flow: FlowState): number => flow.rxBytes + flow.txBytes;
  return flows.sort((one, other) => size(other) - size(one) || other.drops - one.drops).slice(0, count);
}

function flowOf(cell: (name: FlowColumn) => bigint, publicKeyAt: (slot: number) => PublicKey | undefined): FlowState {
  const number = (name: FlowColumn): number => Number(cell(name));
  const address = (high: FlowColumn, low: FlowColumn): IpAddress =>
    cell("family") === 4n ? ipFrom(4, cell(low)) : ipFrom(6, (cell(high) << 64n) | cell(low));
  const hasPorts = cell("ports") === PORTS;
  const rulePlusOne = number("rulePlusOne");
  return {
    publicKey: publicKeyAt(number("peer")) ?? null,
    protocol: number("protocol"),
    local: address("localHigh", "localLow"),
    remote: address("remoteHigh", "remoteLow"),
    localPort: hasPorts ? number("localPort") : null,
    remotePort: hasPorts ? number("remotePort") : null,
    icmpType: cell("ports") === ICMP_TYPE ? number("localPort") : null,
    began: cell("began") === 1n ? "here" : "there",
    verdict: cell("verdict") === 1n ? "allow" : "deny",
    rule: rulePlusOne === 0 ? null : rulePlusOne - 1,
    rxPackets: number("rxPackets"),
    rxBytes: number("rxBytes"),
    txPackets: number("txPackets"),
    txBytes: number("txBytes"),
    drops: number("drops"),
    ageMs: number("ageMs"),
    idleMs: number("idleMs"),
  };
}

const PAGE_ROWS = 1_024;
const PORTS = 1n;
const ICMP_TYPE = 2n;
