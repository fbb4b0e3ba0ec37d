import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

const ignored = new Set([
  "node_modules",
  "dist",
  "dist-types",
  "release",
  "target",
  ".git",
  "artifacts",
  "results",
  "corpus-run",
]);
const stampFolder = join(root, ".cache", "stamps");

/**
 * Runs `work` only when one of the inputs (files or folders below the root) or outputs changed since it last succeeded.
 * Returns "unchanged" or what `work` returned.
 */
export async function whenChanged({ name, inputs, outputs }, work) {
  const stampFile = join(stampFolder, name);
  const present = outputs.every((path) => existsSync(join(root, path)));
  const before = existsSync(stampFile) ? readFileSync(stampFile, "utf8") : "";
  const now = fingerprint(inputs);
  if (present && before === now) return "unchanged";
  rmSync(stampFile, { force: true });
  const outcome = await work();
  mkdirSync(stampFolder, { recursive: true });
  writeFileSync(stampFile, now);
  return outcome;
}

/** Names, sizes and modification times: cheap enough to take at every start. */
function fingerprint(inputs) {
  const hash = createHash("sha256").update(process.version);
  for (const input of inputs) add(join(root, input));
  return hash.digest("hex");

  function add(path) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return;
    if (!stat.isDirectory()) {
      hash.update(`${path}\0${stat.size}\0${stat.mtimeMs}\n`);
      return;
    }
    for (const entry of readdirSync(path).toSorted()) {
      if (!ignored.has(entry) && !entry.endsWith(".node") && !entry.endsWith(".tsbuildinfo")) add(join(path, entry));
    }
  }
}
