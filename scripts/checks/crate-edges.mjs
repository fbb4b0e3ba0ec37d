// Which Rust crate may depend on which. The list is the table in ARCHITECTURE.md; an edge or a crate that is not in it fails.
import { root, run } from "../lib/run.mjs";

const allowed = {
  packet: [],
  offload: ["packet"],
  tables: [],
  filter: ["packet", "tables"],
  wire: [],
  conceal: ["wire"],
  ports: ["packet"],
  engine: ["packet", "offload", "tables", "filter", "wire", "conceal", "ports"],
  sys: ["ports"],
  profile: ["sys"],
  "node-tun": ["engine", "sys", "ports", "profile", "offload", "wire"],
  testkit: ["packet", "ports"],
  benches: [],
};

const metadata = await run("cargo", ["metadata", "--format-version", "1", "--no-deps", "--offline"], {
  cwd: `${root}/native`,
});
const json = metadata.output.slice(metadata.output.indexOf("{"));
const faults = findFaults(JSON.parse(json).packages, allowed);
const probe = findFaults([{ name: "packet", dependencies: [{ name: "engine", kind: null }] }], allowed);
if (probe.length === 0) faults.push("the probe (packet → engine) was not caught");
for (const fault of faults) process.stdout.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

function findFaults(packages, list) {
  const crates = new Set(Object.keys(list));
  const found = [];
  for (const { name, dependencies } of packages) {
    const mayUse = list[name];
    if (!mayUse) {
      found.push(`crate ${name} is not in the list of scripts/checks/crate-edges.mjs`);
      continue;
    }
    for (const edge of dependencies) {
      const isTestOnly = edge.kind === "dev";
      if (crates.has(edge.name) && !isTestOnly && !mayUse.includes(edge.name)) {
        found.push(`${name} may not depend on ${edge.name}: allowed are ${mayUse.join(", ") || "none"}`);
      }
    }
  }
  return found;
}
