import type { Tunnel } from "@weft/dataplane";
import { expect, test } from "vitest";

import { engineView } from "./engine-view.ts";

test("batch sizes, drops and system calls per megabyte are worked out from the engine's tables", () => {
  const view = engineView(tunnelThatCounted(), { restarts: 0, lastFailure: null });

  expect(view.drops).toEqual({ badTag: 7 });
  expect(view.totals).toEqual({ dropBadTag: 7, dropIo: 0, tunReadCalls: 10, pollCalls: 30 });
  expect(view.syscallsPerMegabyte).toBe(20);
  expect(view.stages).toEqual([
    {
      shard: 0,
      stage: "seal",
      batches: 4,
      packets: 130,
      bytes: 2_000_000,
      nanoseconds: 5,
      packetsPerBatch: 32.5,
      batchSizes: { 1: 2, 64: 2 },
    },
  ]);
});

test("without a tunnel there is nothing but the reason", () => {
  expect(engineView(null, { restarts: 2, lastFailure: { reason: "oh", atMs: 0 } })).toEqual({
    restarts: 2,
    lastFailure: { reason: "oh", at: "1970-01-01T00:00:00.000Z" },
    drops: {},
    totals: {},
    syscallsPerMegabyte: null,
    stages: [],
  });
});

function tunnelThatCounted(): Pick<Tunnel, "counters"> {
  return {
    counters: () => ({
      peers: {
        columns: ["peer", "rxBytes", "txBytes"],
        rows: 2,
        values: BigUint64Array.of(1n, 500_000n, 500_000n, 2n, 1_000_000n, 0n),
        publicKeys: [undefined, undefined],
      },
      shards: {
        columns: ["shard", "stage", "batches", "packets", "bytes", "nanoseconds", "batchesOf1", "batchesOf64"],
        rows: 2,
        values: BigUint64Array.of(0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 1n, 4n, 130n, 2_000_000n, 5n, 2n, 2n),
        stageNames: ["split", "seal"],
      },
      totals: {
        columns: ["dropBadTag", "dropIo", "tunReadCalls", "pollCalls"],
        rows: 1,
        values: BigUint64Array.of(7n, 0n, 10n, 30n),
      },
      rules: { columns: ["rule"], rows: 0, values: BigUint64Array.of() },
      handshakes: HANDSHAKES,
    }),
  };
}

const HANDSHAKES = {
  initiationsSent: 0,
  initiationsAccepted: 0,
  responsesAccepted: 0,
  cookieRepliesSent: 0,
  cookieRepliesAccepted: 0,
  gaveUp: 0,
  droppedMalformed: 0,
  droppedUnknownPeer: 0,
  droppedReplay: 0,
  droppedTooFast: 0,
  droppedBadTag: 0,
  droppedUnknownIndex: 0,
  droppedUnderLoad: 0,
  droppedQueueFull: 0,
};
