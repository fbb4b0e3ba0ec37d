// Formats everything and applies the fixes that linters offer.
import { build } from "./build.mjs";
import { createProgress, reportFailure } from "./lib/progress.mjs";
import { bin, root, run } from "./lib/run.mjs";

const native = { cwd: `${root}/native` };
const steps = [
  ["oxlint", (show) => run(bin("oxlint"), ["--fix", "--quiet"], { onLine: show, allowFailure: true })],
  ["oxfmt", (show) => run(bin("oxfmt"), ["."], { onLine: show })],
  ["rustfmt", (show) => run("cargo", ["fmt", "--all"], { ...native, onLine: show })],
];

try {
  await build();
  const progress = createProgress(steps.length);
  for (const [title, work] of steps) await progress.step(title, async (show) => void (await work(show)));
} catch (error) {
  reportFailure(error);
}
