// `npm test`: builds what changed, then runs every test that can run on this machine. `-- --only NAME` runs one runner.
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { formatFailure } from "./lib/failure-reasons.mjs";
import { createProgress, reportFailure } from "./lib/progress.mjs";
import { runners } from "./lib/test-runners.mjs";

try {
  const { values } = parseArgs({ options: { only: { type: "string", multiple: true } } });
  const chosen = values.only ? runners.filter(({ name }) => values.only.includes(name)) : runners;
  if (chosen.length === 0)
    throw new Error(`no runner is named ${values.only}: ${runners.map(({ name }) => name).join(", ")}`);
  await build();
  await testAll(chosen);
} catch (error) {
  reportFailure(error);
}

async function testAll(chosen) {
  const progress = createProgress(chosen.length);
  const results = [];
  for (const runner of chosen) {
    await progress.step(runner.title, async (show) => {
      const result = await runner.run(show);
      results.push(result);
      for (const failure of result.failures) process.stdout.write(`\n  FAILED ${formatFailure(failure)}\n`);
      return `${result.passed} passed, ${result.failed} failed, ${result.skipped.length} skipped`;
    });
  }
  const skipped = results.flatMap((result) => result.skipped);
  if (skipped.length > 0) process.stdout.write(`\nSkipped:\n${skipped.map((line) => `  - ${line}`).join("\n")}\n\n`);
  const total = (key) => results.reduce((sum, result) => sum + result[key], 0);
  const failed = total("failed");
  process.stdout.write(`${total("passed")} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 && total("passed") > 0 ? 0 : 1;
}
