// `npm test`: builds what changed, then runs every test that can run on this machine. `-- --only NAME` runs one runner.
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { onceAskedToEnd } from "./lib/asked-to-end.mjs";
import { formatFailure } from "./lib/failure-reasons.mjs";
import { createProgress, reportFailure } from "./lib/progress.mjs";
import { interrupt, throwIfInterrupted } from "./lib/run.mjs";
import { skipsForLackOfTools } from "./lib/skips.mjs";
import { runners } from "./lib/test-runners.mjs";

const usage = `Usage: npm test [-- OPTIONS]

  --only NAME      run this runner alone; may be given several times
  --all-tools      count a skip for lack of a tool as a failure; what CI does
  --help           this text

Runners, in this order:
${runners.map(({ name, title }) => `  ${name.padEnd(16)} ${title}\n`).join("")}
What cannot run on this machine is skipped, with the reason.
`;

try {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true, default: [] },
      "all-tools": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) process.stdout.write(usage);
  else await test(values);
} catch (error) {
  reportFailure(error);
}

async function test({ only, "all-tools": allTools }) {
  const unknown = only.filter((wanted) => !runners.some(({ name }) => name === wanted));
  if (unknown.length > 0)
    throw new Error(`no runner is named ${unknown.join(", ")}: ${runners.map(({ name }) => name).join(", ")}`);
  const chosen = only.length > 0 ? runners.filter(({ name }) => only.includes(name)) : runners;
  onceAskedToEnd(interrupt);
  await build();
  await testAll(chosen, allTools ? skipsForLackOfTools : () => []);
}

async function testAll(chosen, failingSkips) {
  const progress = createProgress(chosen.length);
  const results = [];
  for (const runner of chosen) {
    await progress.step(runner.title, async (show) => {
      const result = await runner.run(show);
      throwIfInterrupted();
      results.push(result);
      for (const failure of result.failures) process.stdout.write(`\n  FAILED ${formatFailure(failure)}\n`);
      return `${result.passed} passed, ${result.failed} failed, ${result.skipped.length} skipped`;
    });
  }
  const skipped = results.flatMap((result) => result.skipped);
  if (skipped.length > 0) process.stdout.write(`\nSkipped:\n${skipped.map((line) => `  - ${line}`).join("\n")}\n\n`);
  const total = (key) => results.reduce((sum, result) => sum + result[key], 0);
  const missing = failingSkips(skipped);
  for (const line of missing) process.stdout.write(`  FAILED (a skip) ${line}\n`);
  const failed = total("failed") + missing.length;
  process.stdout.write(`${total("passed")} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 && total("passed") > 0 ? 0 : 1;
}
