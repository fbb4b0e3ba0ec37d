import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createPathMtu,
  type PathInput,
  type PathMtu,
  pathMtuDueAtMs,
  type PathProbe,
  PROBE_TIMEOUT_MS,
  PROBES_MAX,
  RAISE_AFTER_MS,
  stepPathMtu,
  UNANSWERED_PAUSE_MS,
  VERIFY_PAUSE_MS,
} from "./path-mtu.ts";
import { innerBytes, pathBounds } from "./path-mtu-sizes.ts";

describe.each([4, 6] as const)("a path over IPv%s", (family) => {
  const headers = family === 4 ? 28 : 48;

  test("that carries the usual size is verified by one probe", () => {
    const path = start(family, { mtu: 1_500 });

    expect(path.sent).toEqual([1_452]);
    expect(path.phase()).toBe("verified");
    expect(innerBytes(path.limit())).toBe(1_420);
  });

  test("a black hole of 1,400 is passed after three probes and its size is found", () => {
    const path = start(family, { mtu: 1_400 });
    expect(path.phase()).toBe("assumed");

    path.advance(PROBES_MAX * PROBE_TIMEOUT_MS);
    expect(path.limit()).toBeLessThanOrEqual(1_400 - headers);
    expect(innerBytes(path.limit())).toBeGreaterThanOrEqual(1_280);

    path.advance(30_000);
    expect(path.phase()).toBe("verified");
    expect(1_400 - headers - path.limit()).toBeLessThan(8);
    expect(path.lostAtMs()).toBeLessThanOrEqual(PROBES_MAX * PROBE_TIMEOUT_MS);
  });

  test("LIM-07 a path of 1,300 is found although it does not carry an inner packet of 1,280", () => {
    const path = start(family, { mtu: 1_300 });

    path.advance(60_000);

    expect(path.phase()).toBe("verified");
    expect(path.limit()).toBeLessThanOrEqual(1_300 - headers);
    expect(1_300 - headers - path.limit()).toBeLessThan(8);
  });

  test("LIM-06 a path of 9,000 is used whole where the interface may be so large", () => {
    const path = start(family, { mtu: 9_000, mtuMax: 8_900 });

    path.advance(1_000);

    expect(path.phase()).toBe("verified");
    expect(innerBytes(path.limit())).toBe(8_900);
  });

  test("a path of 9,000 that carries less than the interface may have is searched without ever breaking", () => {
    const path = start(family, { mtu: 9_000, mtuMax: 9_600 });

    path.advance(60_000);

    expect(9_000 - headers - path.limit()).toBeLessThan(8);
    expect(path.worstLimit()).toBeLessThanOrEqual(9_000 - headers);
  });

  test("that becomes narrow while large datagrams go out heals within the pause and three probes", () => {
    const path = start(family, { mtu: 1_500 });
    path.advance(60_000);

    path.world.mtu = 1_400;
    path.feed({ kind: "large-sent" });
    path.advance(VERIFY_PAUSE_MS + PROBES_MAX * PROBE_TIMEOUT_MS);

    expect(path.limit()).toBeLessThanOrEqual(1_400 - headers);
  });

  test("that becomes wide is used whole after ten minutes, and only if something large goes out", () => {
    const path = start(family, { mtu: 1_400 });
    path.advance(60_000);
    const sent = path.sent.length;
    path.world.mtu = 1_500;

    path.advance(RAISE_AFTER_MS);
    expect(path.sent).toHaveLength(sent);
    path.feed({ kind: "large-sent" });
    path.advance(10_000);

    expect(path.limit()).toBe(1_452);
    expect(path.phase()).toBe("verified");
  });

  test("FBK-04 what the system reports counts at once and is asked about", () => {
    const path = start(family, { mtu: 1_400 });

    path.feed({ kind: "too-big", payload: 1_400 - headers });
    path.advance(100);

    expect(path.limit()).toBe(1_400 - headers);
    expect(path.phase()).toBe("verified");
  });

  test("a report during a search ends it at that size", () => {
    const path = start(family, { mtu: 1_500, mtuMax: 9_000, tells: "with the probe" });

    path.advance(100);

    expect(path.limit()).toBe(1_500 - headers);
    expect(path.phase()).toBe("verified");
    expect(path.sent).toEqual(family === 4 ? [1_452, 9_032, 1_472] : [1_452, 9_032]);
  });
});

describe.each([4, 6] as const)("FBK-04 a report about a path over IPv%s that is proven", (family) => {
  const headers = family === 4 ? 28 : 48;
  const least = pathBounds({ family, mtu: 1_420, mtuMax: 1_420, probes: "sent" }).floor;

  test("takes nothing away when it is forged: one probe shows that the size passes", () => {
    const path = start(family, { mtu: 1_500 });
    expect(path.phase()).toBe("verified");

    path.feed({ kind: "too-big", payload: 548 });
    expect(path.limit()).toBe(1_452);
    path.advance(RAISE_AFTER_MS);

    expect(path.limit()).toBe(1_452);
    expect(path.leastLimit()).toBe(1_452);
    expect(path.sent).toEqual([1_452, 1_452]);
  });

  test("takes nothing away when it is forged and a probe is lost", () => {
    const path = start(family, { mtu: 1_500, lost: [2] });

    path.feed({ kind: "too-big", payload: 548 });
    path.advance(10_000);

    expect(path.leastLimit()).toBe(1_452);
    expect(path.phase()).toBe("verified");
  });

  test("is followed as soon as one probe went unanswered and the reported size passes", () => {
    const path = start(family, { mtu: 1_500 });
    path.world.mtu = 1_400;

    path.feed({ kind: "too-big", payload: 1_400 - headers });
    path.advance(PROBE_TIMEOUT_MS + 100);

    expect(path.limit()).toBe(1_400 - headers);
    expect(path.phase()).toBe("verified");
  });

  test("that names too much is no more than a hint: what passes is found", () => {
    const path = start(family, { mtu: 1_500 });
    path.world.mtu = 1_330;

    path.feed({ kind: "too-big", payload: 1_400 - headers });
    path.advance(60_000);

    expect(path.phase()).toBe("verified");
    expect(path.limit()).toBeLessThanOrEqual(1_330 - headers);
    expect(1_330 - headers - path.limit()).toBeLessThanOrEqual(8);
  });

  test("is undone by the answer to a probe that was under way when it came, before anything was proven", () => {
    const path = start(family, { mtu: 1_500, answersAfterMs: 200 });
    expect(path.phase()).toBe("assumed");

    path.feed({ kind: "too-big", payload: 548 });
    expect(path.limit()).toBe(least);
    path.advance(1_000);

    expect(path.limit()).toBe(1_452);
    expect(path.phase()).toBe("verified");
  });
});

test("whatever is forged and lost, a path that carries everything is used whole in the end", () => {
  const worlds = fc.record({
    family: fc.constantFrom<4 | 6>(4, 6),
    mtuMax: fc.integer({ min: 1_420, max: 9_500 }),
    lost: fc.array(fc.nat({ max: 30 }), { maxLength: 2 }),
  });
  fc.assert(
    fc.property(worlds, ({ family, ...world }) => {
      const path = start(family, { ...world, mtu: 10_000, tells: "lies" });
      // One probe a round at least: nothing gets lost in the last of them.
      for (let round = 0; round < 40; round += 1) {
        path.feed({ kind: "large-sent" });
        path.advance(100_000);
      }

      expect(path.phase()).toBe("verified");
      expect(path.limit()).toBe(world.mtuMax + 32);
    }),
    { numRuns: 300 },
  );
});

test("whatever happens, nothing that fits every path of the family is ever held back", () => {
  const worlds = fc.record({
    family: fc.constantFrom<4 | 6>(4, 6),
    mtu: fc.integer({ min: 576, max: 9_500 }),
    mtuMax: fc.integer({ min: 1_420, max: 9_500 }),
    tells: fc.constantFrom<Tells>("never", "with the probe", "lies"),
    lost: fc.array(fc.nat({ max: 30 }), { maxLength: 8 }),
  });
  fc.assert(
    fc.property(worlds, ({ family, ...world }) => {
      const { floor } = pathBounds({ family, mtu: 1_420, mtuMax: world.mtuMax, probes: "sent" });
      const path = start(family, world);
      path.advance(60_000);
      path.feed({ kind: "large-sent" });
      path.advance(60_000);

      expect(path.leastLimit()).toBeGreaterThanOrEqual(floor);
    }),
    { numRuns: 200 },
  );
});

test("a report that ends a search is asked about again after a minute, not after ten", () => {
  const path = start(4, { mtu: 10_000, tells: "lies", lost: [1, 4] });
  for (let round = 0; round < 2; round += 1) {
    path.feed({ kind: "large-sent" });
    path.advance(100_000);
  }
  expect(path.limit()).toBeLessThan(1_452);

  path.feed({ kind: "large-sent" });
  path.advance(10_000);

  expect(path.limit()).toBe(1_452);
});

describe("a path that says nothing", () => {
  test("is not taken for a narrow one: the size stays, and the next try waits", () => {
    const path = start(4, { mtu: 0 });
    path.advance(PROBES_MAX * PROBE_TIMEOUT_MS);

    expect(path.phase()).toBe("unanswered");
    expect(path.limit()).toBe(1_452);
    const sent = path.sent.length;
    path.feed({ kind: "large-sent" });
    path.advance(UNANSWERED_PAUSE_MS - 1_000);
    expect(path.sent).toHaveLength(sent);
    path.world.mtu = 1_500;
    path.advance(5_000);
    expect(path.phase()).toBe("verified");
  });

  test("costs nothing while nothing large goes out", () => {
    const path = start(4, { mtu: 1_500 });
    path.advance(24 * 3_600_000);
    expect(path.sent).toEqual([1_452]);
  });

  test("ignores answers to what was not asked, or of another size", () => {
    const path = start(4, { mtu: 0 });
    const before = path.limit();

    for (const answer of [
      { id: 99, size: 1_452 },
      { id: 1, size: 9_000 },
      { id: 1, size: 64 },
    ]) {
      path.feed({ kind: "answered", ...answer });
    }

    expect(path.phase()).toBe("assumed");
    expect(path.limit()).toBe(before);
  });
});

test("whatever the path carries, loses and reports, the end is the largest size that passes, or close below it", () => {
  const worlds = fc.record({
    family: fc.constantFrom<4 | 6>(4, 6),
    mtu: fc.integer({ min: 1_300, max: 9_500 }),
    mtuMax: fc.integer({ min: 1_420, max: 9_500 }),
    tells: fc.constantFrom<Tells>("never", "with the probe"),
    lost: fc.array(fc.nat({ max: 20 }), { maxLength: 2 }),
  });
  fc.assert(
    fc.property(worlds, ({ family, ...world }) => {
      const path = start(family, world);
      path.advance(300_000);
      // Where all small probes were lost, large traffic makes it look again.
      for (let round = 0; round < 2; round += 1) {
        path.feed({ kind: "large-sent" });
        path.advance(100_000);
      }

      const carries = Math.min(world.mtu - (family === 4 ? 28 : 48), world.mtuMax + 32);
      expect(path.phase()).toBe("verified");
      expect(path.limit()).toBeLessThanOrEqual(carries);
      expect(carries - path.limit()).toBeLessThanOrEqual(8);
    }),
    { numRuns: 300 },
  );
});

/** "lies": every probe is followed by a forged report of the least there is. */
type Tells = "never" | "with the probe" | "lies";
type World = {
  mtu: number;
  readonly mtuMax?: number;
  readonly tells?: Tells;
  readonly lost?: readonly number[];
  readonly answersAfterMs?: number;
};

/** A path with 10 ms there and back, and its machine. */
function start(family: 4 | 6, world: World) {
  const bounds = pathBounds({ family, mtu: 1_420, mtuMax: world.mtuMax ?? 1_420, probes: "sent" });
  let nowMs = 1_000;
  let path: PathMtu = createPathMtu(bounds);
  const startedAtMs = nowMs;
  const pending: { readonly atMs: number; readonly input: PathInput }[] = [];
  const sent: number[] = [];
  let [worstLimit, leastLimit, loweredAtMs, count] = [path.limit, path.limit, startedAtMs, 0];

  const carry = (probe: PathProbe): void => {
    sent.push(probe.size);
    count += 1;
    const payloadMax = world.mtu - bounds.headerBytes;
    if (probe.size > payloadMax && world.tells === "with the probe") {
      pending.push({ atMs: nowMs + 1, input: { kind: "too-big", payload: payloadMax } });
    }
    if (world.tells === "lies") pending.push({ atMs: nowMs + 1, input: { kind: "too-big", payload: 548 } });
    const isLost = world.lost?.includes(count) ?? false;
    if (probe.size <= payloadMax && !isLost)
      pending.push({ atMs: nowMs + (world.answersAfterMs ?? 10), input: { kind: "answered", ...probe } });
  };
  const feed = (input: PathInput): void => {
    const before = path.limit;
    const step = stepPathMtu(path, input, nowMs);
    path = step.path;
    step.probes.forEach(carry);
    worstLimit = Math.max(worstLimit, path.limit);
    leastLimit = Math.min(leastLimit, path.limit);
    if (path.limit < before) loweredAtMs = nowMs;
  };
  const advance = (forMs: number): void => {
    const endMs = nowMs + forMs;
    for (;;) {
      pending.sort((left, right) => left.atMs - right.atMs);
      const nextMs = Math.min(pending[0]?.atMs ?? Infinity, pathMtuDueAtMs(path) ?? Infinity);
      if (nextMs > endMs) break;
      nowMs = Math.max(nowMs, nextMs);
      feed(
        pending[0] && pending[0].atMs <= nowMs ? (pending.shift()?.input ?? { kind: "timeout" }) : { kind: "timeout" },
      );
    }
    nowMs = endMs;
  };

  feed({ kind: "start" });
  advance(50);
  return {
    world,
    sent,
    feed,
    advance,
    limit: () => path.limit,
    phase: () => path.phase.state,
    worstLimit: () => worstLimit,
    leastLimit: () => leastLimit,
    lostAtMs: () => loweredAtMs - startedAtMs,
  };
}
