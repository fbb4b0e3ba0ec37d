import { createLagMeter } from "../domain/load-shedding.ts";

/** How late the event loop is. */
export type LagGauge = { readonly lagMs: () => number; readonly dispose: () => void };

/** Watches the event loop of this process. */
export function startLagGauge(): LagGauge {
  const meter = createLagMeter(STEP_MS, performance.now());
  const timer = setInterval(() => meter.tick(performance.now()), STEP_MS);
  timer.unref();
  return { lagMs: () => meter.lagMs(performance.now()), dispose: () => clearInterval(timer) };
}

const STEP_MS = 50;
