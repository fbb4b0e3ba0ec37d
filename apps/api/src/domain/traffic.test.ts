import { peerIds } from "@weft/protocol";
import type { CountersReport, PeerId } from "@weft/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createNodeTraffic } from "./traffic.ts";

const a = peerIds.make(() => new Uint8Array(16).fill(1));
const b = peerIds.make(() => new Uint8Array(16).fill(2));
const nothing = { rxBytes: 0n, txBytes: 0n, counterEpoch: null, epochRxBytes: 0n, epochTxBytes: 0n };

test("AP-60 totals add up over agent starts", () => {
  const traffic = createNodeTraffic(nothing);

  traffic.ingest(
    report({
      epoch: 1n,
      uptimeMs: 1_000,
      links: [
        [a, 100n],
        [b, 10n],
      ],
    }),
    0,
  );
  traffic.ingest(report({ epoch: 1n, uptimeMs: 2_000, links: [[a, 150n]] }), 1_000);
  traffic.ingest(report({ epoch: 2n, uptimeMs: 1_000, links: [[a, 7n]] }), 2_000);

  expect(traffic.totals().rxBytes).toBe(167n);
});

test("AP-60 after a restart of the server the running agent start is not counted twice", () => {
  const before = createNodeTraffic({ ...nothing, rxBytes: 40n });
  before.ingest(
    report({
      epoch: 5n,
      uptimeMs: 1_000,
      links: [
        [a, 100n],
        [b, 50n],
      ],
    }),
    0,
  );
  const stored = before.totals();

  const after = createNodeTraffic(stored);
  after.ingest(report({ epoch: 5n, uptimeMs: 2_000, links: [[a, 110n]] }), 0);
  const partly = after.totals().rxBytes;
  after.ingest(report({ epoch: 5n, uptimeMs: 3_000, links: [[b, 70n]] }), 0);

  expect(stored.rxBytes).toBe(190n);
  expect(partly).toBe(190n);
  expect(after.totals().rxBytes).toBe(40n + 110n + 70n);
});

test("AP-60 totals never go back, whatever is reported and whenever either side restarts", () => {
  const step = fc.record({
    epoch: fc.bigInt({ min: 1n, max: 3n }),
    links: fc.array(fc.tuple(fc.constantFrom(a, b), fc.bigInt({ min: 0n, max: 1_000n })), { maxLength: 3 }),
    serverRestarts: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let traffic = createNodeTraffic(nothing);
      let last = 0n;
      for (const [place, { epoch, links, serverRestarts }] of steps.entries()) {
        if (serverRestarts) traffic = createNodeTraffic(traffic.totals());
        traffic.ingest(report({ epoch, uptimeMs: place * 1_000, links }), place);
        const { rxBytes, epochRxBytes } = traffic.totals();
        expect(rxBytes).toBeGreaterThanOrEqual(last);
        expect(rxBytes).toBeGreaterThanOrEqual(epochRxBytes);
        last = rxBytes;
      }
    }),
  );
});

test("rates come from the agent's own clock and fall to zero when reports stop", () => {
  const traffic = createNodeTraffic(nothing);
  traffic.ingest(report({ epoch: 1n, uptimeMs: 1_000, links: [[a, 0n]] }), 50_000);

  traffic.ingest(report({ epoch: 1n, uptimeMs: 1_500, links: [[a, 1_000n]] }), 50_900);

  expect(traffic.rates(50_900).rxBitsPerSecond).toBe(16_000);
  expect(traffic.rates(90_000).rxBitsPerSecond).toBe(0);
  expect(traffic.history(50_900)).toHaveLength(1);
  expect(traffic.history(50_900 + 600_001)).toHaveLength(0);
});

test("two reports close together make neither a spike nor a zero: their bytes count into the next full span", () => {
  const traffic = createNodeTraffic(nothing);
  traffic.ingest(report({ epoch: 1n, uptimeMs: 1_000, links: [[a, 0n]] }), 1_000);
  traffic.ingest(report({ epoch: 1n, uptimeMs: 11_000, links: [[a, 10_000n]] }), 11_000);

  // A dashboard opens: the node reports at once, and again a moment later.
  traffic.ingest(report({ epoch: 1n, uptimeMs: 11_005, links: [[a, 10_900n]] }), 11_005);
  traffic.ingest(report({ epoch: 1n, uptimeMs: 11_010, links: [[a, 10_900n]] }), 11_010);
  const between = { node: traffic.rates(11_010), link: traffic.links().get(a) };
  traffic.ingest(report({ epoch: 1n, uptimeMs: 12_000, links: [[a, 11_000n]] }), 12_000);

  expect(between.node.rxBitsPerSecond).toBe(8_000);
  expect(between.link).toMatchObject({ rxBitsPerSecond: 8_000, rxBytes: 10_900n });
  expect(traffic.rates(12_000).rxBitsPerSecond).toBe(8_000);
  expect(traffic.links().get(a)?.rxBitsPerSecond).toBe(8_000);
  expect(traffic.history(12_000).map(({ rxBitsPerSecond }) => rxBitsPerSecond)).toEqual([8_000, 8_000]);
  expect(traffic.totals().rxBytes).toBe(11_000n);
});

test("reports that are always close together still give rates, over half a second each", () => {
  const traffic = createNodeTraffic(nothing);

  for (let uptimeMs = 0; uptimeMs <= 2_000; uptimeMs += 100) {
    traffic.ingest(report({ epoch: 1n, uptimeMs, links: [[a, BigInt(uptimeMs)]] }), uptimeMs);
  }

  expect(traffic.history(2_000).map(({ atMs, rxBitsPerSecond }) => [atMs, rxBitsPerSecond])).toEqual([
    [500, 8_000],
    [1_000, 8_000],
    [1_500, 8_000],
    [2_000, 8_000],
  ]);
});

test("what a peer moved before it was first named is in the totals, not in the rate", () => {
  const traffic = createNodeTraffic(nothing);
  traffic.ingest(report({ epoch: 1n, uptimeMs: 1_000, links: [[a, 0n]] }), 1_000);

  traffic.ingest(
    report({
      epoch: 1n,
      uptimeMs: 2_000,
      links: [
        [a, 1_000n],
        [b, 5_000_000_000n],
      ],
    }),
    2_000,
  );

  expect(traffic.rates(2_000).rxBitsPerSecond).toBe(8_000);
  expect(traffic.totals().rxBytes).toBe(5_000_001_000n);
});

test("totals of a node that lies stay within what the database can store", () => {
  const traffic = createNodeTraffic({ ...nothing, rxBytes: 5n });

  const max = 2n ** 64n - 1n;
  for (const epoch of [1n, 2n]) {
    traffic.ingest(
      report({
        epoch,
        uptimeMs: 1_000,
        links: [
          [a, max],
          [b, max],
        ],
      }),
      0,
    );
  }

  const { rxBytes, epochRxBytes } = traffic.totals();
  expect([rxBytes, epochRxBytes]).toEqual([2n ** 63n - 1n, 2n ** 63n - 1n]);
});

test("AP-64 counters of unknown peers are skipped, and a removed peer leaves nothing but its bytes", () => {
  const traffic = createNodeTraffic(nothing);
  const links = [
    [a, 100n],
    [b, 10n],
  ] as const;

  traffic.ingest(report({ epoch: 1n, uptimeMs: 1_000, links }), 0, (id) => id === a);
  const named = [...traffic.links().keys()];
  traffic.forgetLink(a);

  expect(named).toEqual([a]);
  expect(traffic.links().size).toBe(0);
  expect(traffic.totals().rxBytes).toBe(100n);
});

function report(input: {
  readonly epoch: bigint;
  readonly uptimeMs: number;
  readonly links: readonly (readonly [PeerId, bigint])[];
}): CountersReport {
  const rows = input.links.map(([, bytes]) => bytes);
  const none = rows.map(() => null);
  return {
    counterEpoch: input.epoch,
    uptimeMs: input.uptimeMs,
    peers: {
      peerIds: input.links.map(([id]) => id),
      rxBytes: rows,
      rxPackets: rows,
      txBytes: rows,
      txPackets: rows,
      drops: [],
      lastHandshakeAgeMs: none,
      lastReceivedAgeMs: none,
      sessionAgeMs: none,
      endpoints: none,
    },
    stages: [],
    totals: [],
    cpuMicroseconds: 0n,
    rssBytes: 0,
  };
}
