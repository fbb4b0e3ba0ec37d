import type { PublicKey } from "@weft/protocol";
import type { Engine } from "../core/engine-port.ts";
import type { CounterTable, HandshakeCounters, TunnelCounters } from "../tunnel.ts";

/** Column names of the engine's tables, in order. */
export type CounterNames = {
  readonly peers: readonly string[];
  readonly shards: readonly string[];
  readonly stages: readonly string[];
  readonly totals: readonly string[];
};

export type CounterReader = { readonly read: () => TunnelCounters };

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
  const slotColumn = names.peers.indexOf("peer");
  if (slotColumn < 0) throw new Error('the engine\'s peer counters have a column "peer"');
  return {
    read() {
      const table = peers();
      const slots = Array.from({ length: table.rows }, (_, row) => table.values[row * table.columns.length + slotColumn]);
      const publicKeys = slots.map((slot) => (slot === undefined ? undefined : input.publicKeyAt(Number(slot))));
      return {
        peers: { ...table, publicKeys },
        shards: { ...shards(), stageNames: names.stages },
        totals: totals(),
        handshakes: { ...input.handshakes },
      };
    },
  };
}

function createTable(columns: readonly string[], read: (into: BigUint64Array) => number): () => CounterTable {
  let values = new BigUint64Array(columns.length * ROWS_AT_FIRST);
  return () => {
    let rows = read(values);
    while (rows < 0) {
      values = new BigUint64Array(columns.length * -rows);
      rows = read(values);
    }
    return { columns, rows, values };
  };
}

const ROWS_AT_FIRST = 64;
