// `npm run bench -- SUITE [options]`: builds what changed, then measures. See e2e/bench.
import { spawn } from "node:child_process";
import { build } from "./build.mjs";
import { reportFailure } from "./lib/progress.mjs";
import { root } from "./lib/run.mjs";

try {
  await build();
  const child = spawn(process.execPath, [`${root}/e2e/dist/bench/main.js`, ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal ? 130 : 1);
  });
} catch (error) {
  reportFailure(error);
}
