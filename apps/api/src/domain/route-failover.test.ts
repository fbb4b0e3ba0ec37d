import { parsePrefix, routeIds } from "@weft/protocol";
import { mustBe } from "@weft/protocol/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseRoute, SETTLED_MS } from "./route-failover.ts";
import type { RouteCandidate } from "./route-failover.ts";

const NOW = new Date(1_800_000_000_000);
const ago = (ms: number) => new Date(NOW.getTime() - ms);
const id = (index: number) => mustBe(routeIds.fromBytes(new Uint8Array(16).fill(index)));
const prefix = mustBe(parsePrefix("192.168.9.0/24"));

const way = (index: number, change: Partial<RouteCandidate> = {}): RouteCandidate => ({
  id: id(index),
  prefix,
  priority: 100,
  active: false,
  createdAt: ago(1_000 - index),
  upSince: ago(1_000),
  ...change,
});

test("CP-71 F-C4 if any router answers, exactly one that answers is chosen, whatever the others do", () => {
  const candidates = fc
    .array(fc.record({ priority: fc.nat(3), upFor: fc.option(fc.nat(2 * SETTLED_MS)) }), { minLength: 1, maxLength: 6 })
    .chain((all) => fc.record({ all: fc.constant(all), active: fc.option(fc.nat(all.length - 1)) }))
    .map(({ all, active }) =>
      all.map(({ priority, upFor }, index) =>
        way(index, { priority, active: index === active, upSince: upFor === null ? null : ago(upFor) }),
      ),
    );
  fc.assert(
    fc.property(candidates, (ways) => {
      const chosen = chooseRoute(ways, NOW);
      expect(ways).toContain(chosen);
      if (ways.some(({ upSince }) => upSince)) expect(chosen?.upSince).not.toBeNull();
      // Asked again at once, nothing moves.
      const after = ways.map((one) => ({ ...one, active: one.id === chosen?.id }));
      expect(chooseRoute(after, NOW)?.id).toBe(chosen?.id);
    }),
  );
});

test("CP-71 a router that came back a moment ago does not take the range from one that works; a preferred one does after a while", () => {
  const inUse = way(2, { active: true });
  const preferred = (upForMs: number) => way(1, { priority: 10, upSince: ago(upForMs) });
  expect(chooseRoute([preferred(SETTLED_MS - 1), inUse], NOW)?.id).toBe(id(2));
  expect(chooseRoute([preferred(SETTLED_MS), inUse], NOW)?.id).toBe(id(1));
  expect(chooseRoute([way(1, { upSince: ago(SETTLED_MS) }), inUse], NOW)?.id).toBe(id(2));
  expect(chooseRoute([way(1, { upSince: null }), way(2, { active: true, upSince: null })], NOW)?.id).toBe(id(2));
});
