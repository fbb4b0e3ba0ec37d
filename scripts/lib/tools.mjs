import { firstLine } from "./run.mjs";

/**
 * What a clean clone needs. Everything else comes with the dependencies.
 * Returns sentences that say what is missing and how to get it.
 */
function missingTools() {
  const missing = [];
  if (!nodeIsNewEnough(process.versions.node)) {
    missing.push(
      `Node.js ${process.versions.node} is too old: weft needs 20.19 or newer. Install it from your distribution or nodejs.org.`,
    );
  }
  if (firstLine("npx", ["--version"]) === null) {
    missing.push("npm (npx) is missing: it comes with Node.js; Debian and Ubuntu package it as `npm`.");
  }
  const cargo = firstLine("cargo", ["--version"]);
  if (cargo === null) {
    missing.push(
      "The Rust toolchain (cargo) is missing: install a stable one with rustup (rustup.rs) and open a new shell.",
    );
  } else if (!rustIsNewEnough(cargo)) {
    missing.push(`${cargo} is too old: weft needs Rust 1.90 or newer. Run \`rustup update stable\`.`);
  }
  if (["cc", "gcc", "clang"].every((name) => firstLine(name, ["--version"]) === null)) {
    missing.push("A C compiler is missing: install `build-essential` (Debian, Ubuntu) or `gcc` (Fedora).");
  }
  return missing;
}

/** Ends the program with one line per missing tool. */
export function requireTools() {
  const missing = missingTools();
  if (missing.length === 0) return;
  process.stderr.write(`weft cannot be built here yet:\n${missing.map((line) => `  - ${line}`).join("\n")}\n`);
  process.exit(1);
}

function nodeIsNewEnough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 20 || (major === 20 && minor >= 19);
}

function rustIsNewEnough(text) {
  const match = /(\d+)\.(\d+)/.exec(text);
  return match !== null && (Number(match[1]) > 1 || Number(match[2]) >= 90);
}
