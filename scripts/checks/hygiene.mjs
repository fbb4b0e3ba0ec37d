// What may never be committed: registry hosts in lock files, absolute home paths, private keys, prebuilt binaries.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/run.mjs";

const bytesMax = 2 * 1024 * 1024;
const rules = [
  { name: "absolute path of a machine", pattern: /(?<![\w.])\/(?:home|Users)\/[a-z][\w-]*\// },
  { name: "private key", pattern: /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/ },
  {
    name: "registry address in a lock file",
    pattern: /(?:resolved|tarball)"?: "?https?:/,
    only: /lock(\.json|\.yaml)$/,
  },
];

const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
const faults = files.flatMap(inspect);
if (findIn("probe.ts", "const x = '/home/someone/key';").length === 0) faults.push("the probe was not caught");
for (const fault of faults) process.stdout.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

function inspect(path) {
  const full = join(root, path);
  const stat = statSync(full, { throwIfNoEntry: false });
  if (!stat) return [];
  if (stat.size > bytesMax) return [`${path}: ${stat.size} bytes, at most ${bytesMax}`];
  const bytes = readFileSync(full);
  if (bytes.subarray(0, 4).toString("latin1") === "\u007fELF") return [`${path}: a compiled program`];
  return bytes.includes(0) ? [] : findIn(path, bytes.toString("utf8"));
}

function findIn(path, text) {
  return rules
    .filter(({ pattern, only }) => (only?.test(path) ?? true) && pattern.test(text) && !path.endsWith("hygiene.mjs"))
    .map(({ name }) => `${path}: ${name}`);
}
