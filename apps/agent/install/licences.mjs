import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/**
 * The text of THIRD-PARTY.txt: a list of everything in the archive that others wrote, then the licence texts, each once.
 * `packages` are `{ name, version, license, folder }`; `runtime` is the path of a Node.js program that goes in, or null.
 */
export function thirdPartyText({ packages, nativeFolder, runtime }) {
  const parts = [...(runtime ? [nodeRuntime(runtime)] : []), ...packages, ...crates(nativeFolder)];
  const list = parts.map(({ name, version, license }) => `${name} ${version}: ${license}`);
  const texts = new Map();
  for (const part of parts) {
    for (const text of licenceTexts(part))
      texts.set(text, [...(texts.get(text) ?? []), `${part.name} ${part.version}`]);
  }
  const notices = [...texts].map(([text, names]) => `${LINE}\n${names.join(", ")}\n${LINE}\n${text}`);
  return `weft contains these works of others.\n\n${list.join("\n")}\n\n${notices.join("\n\n")}\n`;
}

/** Crates that are compiled into the addon on this platform; build tools and tests are not among them. */
function crates(nativeFolder) {
  const options = [
    "--package",
    "node-tun",
    "--edges",
    "normal,no-proc-macro",
    "--prefix",
    "none",
    "--format",
    "{p}|{l}",
  ];
  const tree = execFileSync("cargo", ["tree", "--locked", ...options], {
    cwd: nativeFolder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = new Set(tree.split("\n").map((line) => line.replace(/ \(\*\)$/, "")));
  const found = [...lines].flatMap((line) => {
    // Crates of this repository have a path behind the version.
    const [, name, version, license] = /^(\S+) v(\S+)\|(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, version, license, folder: sourceOf(`${name}-${version}`) }];
  });
  return found.toSorted((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version));
}

/** Where cargo unpacked a crate; undefined where it did so in a place of its own. */
function sourceOf(crate) {
  const registries = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "registry", "src");
  if (!existsSync(registries)) return undefined;
  const folders = readdirSync(registries).map((registry) => join(registries, registry, crate));
  return folders.find((folder) => existsSync(folder));
}

function nodeRuntime(runtime) {
  const candidates = [join(dirname(runtime), ".."), "/usr/share/doc/nodejs", "/usr/share/licenses/nodejs"];
  const folder = candidates.find((path) => existsSync(join(path, "LICENSE")));
  return { name: "Node.js", version: process.version, license: "MIT and those of its parts", folder };
}

function licenceTexts({ folder }) {
  if (folder === undefined) return [];
  const names = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice|copyright)/i.test(name));
  return names.flatMap((name) => {
    try {
      return [readFileSync(join(folder, name), "utf8").trim()];
    } catch {
      return [];
    }
  });
}

const LINE = "-".repeat(80);
