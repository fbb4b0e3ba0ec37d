// Builds everything that changed: dependencies, native addon, TypeScript, dashboard.
import { buildSteps } from "./lib/build-steps.mjs";
import { createProgress, reportFailure } from "./lib/progress.mjs";
import { requireTools } from "./lib/tools.mjs";

export async function build() {
  requireTools();
  const progress = createProgress(buildSteps.length);
  for (const step of buildSteps) await progress.step(step.title, step.run);
}

if (import.meta.filename === process.argv[1]) {
  try {
    await build();
  } catch (error) {
    reportFailure(error);
  }
}
