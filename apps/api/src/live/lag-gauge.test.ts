import { expect, test } from "vitest";
import { startLagGauge } from "./lag-gauge.ts";

test("SC-7 the gauge sees a busy loop at once and calms down after it", async () => {
  const gauge = startLagGauge();
  const startMs = performance.now();
  while (performance.now() - startMs < 250);
  const during = gauge.lagMs();

  await expect.poll(() => gauge.lagMs(), { timeout: 10_000 }).toBeLessThan(50);

  expect(during).toBeGreaterThan(150);
  gauge.dispose();
});
