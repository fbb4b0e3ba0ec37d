import { type PublicKey, publicKeyFromBytes } from "@weft/protocol";
import { expect, test } from "vitest";
import type { Engine } from "../core/engine-port.ts";
import { createCounters } from "../core/core-context.ts";
import { createCounterReader } from "./counter-reader.ts";

test("grows its arrays until every row fits, keeps them, and names each row's peer", () => {
  const arrays: BigUint64Array[] = [];
  const reader = createCounterReader({
    engine: engineWith(200, arrays),
    names: {
      peers: ["peer", "rxBytes"],
      shards: ["shard", "stage"],
      stages: ["tunRead"],
      totals: ["dropIo"],
      rules: ["rule", "packets"],
      flows: [],
    },
    publicKeyAt: (slot) => (slot === 199 ? undefined : KEY),
    handshakes: createCounters(),
  });

  const { peers, shards, totals, rules } = reader.read();
  reader.read();

  expect(peers.rows).toBe(200);
  expect(peers.values[2 * 7 + 1]).toBe(700n);
  expect(peers.publicKeys[0]).toBe(KEY);
  expect(peers.publicKeys[199]).toBeUndefined();
  expect(shards).toMatchObject({ rows: 1, stageNames: ["tunRead"] });
  expect(totals.values[0]).toBe(3n);
  expect([rules.rows, rules.values[1]]).toEqual([1, 4n]);
  expect(new Set(arrays.slice(1)).size).toBe(1);
});

/** An engine of which only the counters are asked. */
function engineWith(peerRows: number, seen: BigUint64Array[]): Engine {
  const fill = (into: BigUint64Array, values: readonly bigint[]): void => into.set(values);
  return {
    listenPort: 1,
    tunName: "t",
    shardCount: 1,
    apply: () => {},
    takeEvents: () => 0,
    readPeerCounters(into) {
      seen.push(into);
      if (into.length < peerRows * 2) return -peerRows;
      for (let row = 0; row < peerRows; row += 1) into.set([BigInt(row), BigInt(row * 100)], row * 2);
      return peerRows;
    },
    readShardCounters(into) {
      fill(into, [0n, 0n]);
      return 1;
    },
    readTotals(into) {
      fill(into, [3n]);
      return 1;
    },
    readRuleCounters(into) {
      fill(into, [9n, 4n]);
      return 1;
    },
    readFlows: () => 0,
    takeFlowRecords: () => ({ rows: 0, lost: 0 }),
    status: () => ({ offloads: [] }),
    injectPanic: () => {},
    close: () => {},
  };
}

const parsed = publicKeyFromBytes(new Uint8Array(32).fill(1));
if (!parsed.ok) throw new Error("32 bytes are a key");
const KEY: PublicKey = parsed.value;
