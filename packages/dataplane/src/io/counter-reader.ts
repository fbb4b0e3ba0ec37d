import type { PublicKey } from "@weft/protocol";
import type { Engine } from "../core/engine-port.ts";
import type { CounterTable, HandshakeCounters, TunnelCounters } from "../tunnel.ts";

/** Column names of the engine's tables, in order. */
export type CounterNames = {
  readonly peers: readonly string[];
  readonly shards: readonly string[];
  readonly stages: readonly string[];
  readonly totals: readonly string[];
  readonly rules: readonly string[];
  readonly flows: readonly string[];
};

export type CounterReader = {
  readonly read: () => TunnelCounters;
  /** What was read last; all empty before the first time. */
  readonly last: () => TunnelCounters;
};

/** Reads all tables into arrays that are kept and grow when they have to. */
export function createCounterReader(input: {
  readonly engine: Engine;
  readonly names: CounterNames;
  readonly publicKeyAt: (slot: number) => PublicKey | undefined;
  readonly handshakes: HandshakeCounters;
}): CounterReader {
  const { engine, names } = input;
  const peers = createTable(names.peers, (into) => engine.readPeerCounters(into));
  const shards = createTable(names.shards, (into) => engine.readShardCounters(into));
  const totals = createTable(names.totals, (into) => engine.readTotals(into));
  const rules = createTable(names.rules, (into) => engine.readRuleCounters(into));
  const slotColumn = names.peers.indexOf("peer");
  if (slotColumn < 0) throw new Error('the engine\'s peer counters have a column "peer"');
  const read = (): TunnelCounters => {
    const table = peers();
    const slots = Array.from({ length: table.rows }, (_, row) => table.values[row * table.columns.length + slotColumn]);
    const publicKeys = slots.map((slot) => (slot === undefined ? undefined : input.publicKeyAt(Number(slot))));
    return {
      peers: { ...table, publicKeys },
      shards: { ...shards(), stageNames: names.stages },
      totals: totals(),
      rules: rules(),
      handshakes: { ...input.handshakes },
    };
  };
  let last: TunnelCounters = {
    peers: { ...emptyTable(names.peers), publicKeys: [] },
    shards: { ...emptyTable(names.shards), stageNames: names.stages },
    totals: emptyTable(names.totals),
    rules: emptyTable(names.rules),
    handshakes: { ...input.handshakes },
  };
  return { read: () => (last = read()), last: () => last };
}

function createTable(columns: readonly string[], read: (into: BigUint64Array) => number): () => CounterTable {
  let values = new BigUint64Array(columns.length * ROWS_AT_FIRST);
  return () => {
    let rows = read(values);
    for (; rows < 0; rows = read(values)) {
      values = new BigUint64Array(columns.length * -rows);
    }
    return { columns, rows, values };
  };
}

function emptyTable(columns: readonly string[]): CounterTable {
  return { columns, rows: 0, values: new BigUint64Array(0) };
}

const ROWS_AT_FIRST = 64;
