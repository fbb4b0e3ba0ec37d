// `npm run bench -- SUITE [options]`: builds what changed, then measures. See e2e/bench.
import { spawn } from "node:child_process";
import { build } from "./build.mjs";
import { reportFailure } from "./lib/progress.mjs";
import { root } from "./lib/run.mjs";

const usage = `Usage: npm run bench -- SUITE [OPTIONS]

  --json             the report as JSON
  --case NAME        measure this case alone; may be given several times
  --contender NAME   measure this contender alone; may be given several times
  --rounds N         rounds (contenders take turns inside each)
  --seconds N        seconds per measurement
  --help             this text

Suites: tunnel, latency, handshake, offload, shards, memory, hostile, soak, control-plane; "bars" is everything that has a bar.
Needs root (control-plane only for its case peer-change). What each suite measures, and how to name other programs to compare with: e2e/README.md.
`;

try {
  if (process.argv.includes("--help")) process.stdout.write(usage);
  else await bench();
} catch (error) {
  reportFailure(error);
}

async function bench() {
  await build();
  const child = spawn(process.execPath, [`${root}/e2e/dist/bench/main.js`, ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal ? 130 : 1);
  });
}
