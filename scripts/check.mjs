// `npm run check`: everything that reads the code without running it. `-- --only NAME` runs one of them.
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { onceAskedToEnd } from "./lib/asked-to-end.mjs";
import { createProgress, reportFailure } from "./lib/progress.mjs";
import { bin, interrupt, root, run, throwIfInterrupted } from "./lib/run.mjs";

const native = { cwd: `${root}/native` };
const script = (name) => [process.execPath, [`${root}/scripts/checks/${name}.mjs`]];

const checks = [
  { name: "format", command: [bin("oxfmt"), ["--check", "."]] },
  { name: "lint", command: [bin("oxlint"), ["--type-aware", "--quiet"]] },
  { name: "types", command: [bin("tsc"), ["-b"]] },
  { name: "arrows", command: script("arrows") },
  // The tool judges commit hooks by CI being set; the answer must be the same everywhere.
  { name: "dead-code", command: [bin("knip"), ["--no-progress"]], options: { env: { CI: "" } } },
  { name: "hygiene", command: script("hygiene") },
  { name: "budgets", command: script("budgets") },
  { name: "crate-edges", command: script("crate-edges") },
  { name: "rust-format", command: ["cargo", ["fmt", "--all", "--check"]], options: native },
  {
    name: "clippy",
    command: [
      "cargo",
      ["clippy", "--workspace", "--all-targets", "--features", "ports/contract", "--", "-D", "warnings"],
    ],
    options: native,
  },
  {
    name: "rust-docs",
    command: ["cargo", ["doc", "--workspace", "--no-deps", "--document-private-items"]],
    options: { ...native, env: { RUSTDOCFLAGS: "-D warnings" } },
  },
];

const usage = `Usage: npm run check [-- OPTIONS]

  --only NAME      run this check alone
  --help           this text

Checks: ${checks.map(({ name }) => name).join(", ")}
`;

try {
  const { values } = parseArgs({ options: { only: { type: "string" }, help: { type: "boolean", default: false } } });
  if (values.help) process.stdout.write(usage);
  else await check(values.only);
} catch (error) {
  reportFailure(error);
}

async function check(only) {
  const chosen = only ? checks.filter(({ name }) => name === only) : checks;
  if (chosen.length === 0) throw new Error(`no check is named ${only}: ${checks.map(({ name }) => name).join(", ")}`);
  onceAskedToEnd(interrupt);
  await build();
  const failed = await runAll(chosen);
  process.stdout.write(failed.length === 0 ? "all checks hold\n" : `failed: ${failed.join(", ")}\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

async function runAll(chosen) {
  const progress = createProgress(chosen.length);
  const failed = [];
  for (const { name, command, options } of chosen) {
    try {
      await progress.step(
        name,
        async (show) => void (await run(...command, { ...options, onLine: show, title: name })),
      );
    } catch (error) {
      throwIfInterrupted();
      failed.push(name);
      process.stdout.write(`${error.output ?? error.message}\n`);
    }
  }
  return failed;
}
