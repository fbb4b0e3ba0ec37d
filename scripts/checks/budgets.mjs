// File lengths the linters do not measure: Rust files without their tests (hard stop 600 lines).
import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../lib/run.mjs";

const linesMax = 600;

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "native/**/*.rs"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path && !/\/(tests|benches|examples)\/|\/tests?\.rs$|_tests\.rs$/.test(path));

const faults = files
  .map((path) => ({ path, lines: productionLines(readFileSync(join(root, path), "utf8")) }))
  .filter(({ lines }) => lines > linesMax)
  .map(({ path, lines }) => `${path}: ${lines} lines without tests, at most ${linesMax}`);

if (productionLines(`${"x\n".repeat(601)}#[cfg(test)]\nmod tests {\n`) !== 601)
  faults.push("the probe was not counted right");
for (const fault of faults) process.stdout.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Lines before the first inline test module. */
function productionLines(text) {
  const lines = text.trimEnd().split("\n");
  const tests = lines.findIndex((line, at) => line === "#[cfg(test)]" && /^mod \w+ \{/.test(lines[at + 1] ?? ""));
  return tests === -1 ? lines.length : tests;
}
