import fc from "fast-check";
import { expect, test } from "vitest";
import { createDeadlines } from "./deadlines.ts";

test("always hands out the earliest deadline, whatever was set, moved and removed before", () => {
  const step = fc.record({ key: fc.nat(20), atMs: fc.option(fc.nat(1_000)) });

  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const deadlines = createDeadlines();
      const model = new Map<number, number>();
      for (const { key, atMs } of steps) {
        deadlines.set(key, atMs);
        if (atMs === null) model.delete(key);
        else model.set(key, atMs);
        expect(deadlines.nextAtMs()).toBe(model.size === 0 ? null : Math.min(...model.values()));
      }

      expect(deadlines.size()).toBe(model.size);
      let last = -1;
      for (let key = deadlines.takeDue(1_000); key !== null; key = deadlines.takeDue(1_000)) {
        const atMs = model.get(key) ?? -1;
        expect(atMs).toBeGreaterThanOrEqual(last);
        last = atMs;
        model.delete(key);
      }
      expect(model.size).toBe(0);
    }),
  );
});

test("takes nothing before its time", () => {
  const deadlines = createDeadlines();
  deadlines.set(1, 10);

  expect(deadlines.takeDue(9)).toBeNull();
  expect(deadlines.takeDue(10)).toBe(1);
  expect(deadlines.nextAtMs()).toBeNull();
});
