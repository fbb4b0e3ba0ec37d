// Finds the compiled addon beside this file and hands on what it exports.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);

export const {
  CpuProfiler,
  Engine,
  Tun,
  addAddress,
  addRoute,
  deleteLink,
  flowNames,
  linkInfo,
  links,
  measureCiphers,
  peerCounterNames,
  ping,
  removeAddress,
  removeRoute,
  routes,
  ruleCounterNames,
  setLink,
  shardCounterNames,
  stageNames,
  totalCounterNames,
} = load();

function load() {
  if (process.platform !== "linux") {
    throw new Error(`node-tun works on Linux only; this is ${process.platform}`);
  }
  const candidates = ["gnu", "musl"].map((libc) => `./node-tun.linux-${process.arch}-${libc}.node`);
  const found = candidates.find((name) => existsSync(fileURLToPath(new URL(name, import.meta.url))));
  if (!found) {
    throw new Error(
      `node-tun was not built for ${process.platform} ${process.arch}: run "npm run build" in ${fileURLToPath(new URL(".", import.meta.url))}`,
    );
  }
  return require(found);
}
