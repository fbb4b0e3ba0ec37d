/**
 * Skips for lack of a tool: CI installs the tools, so there they are faults. What Debian has no package of is no fault, which
 * is a new Go, and programs of other people that a path names (`WEFT_BENCH_…`); nor is what a machine is or forbids.
 */
export function skipsForLackOfTools(skipped) {
  return skipped.filter((line) => LACK.test(line) && !EXCUSE.test(line));
}

const LACK = /\bis not (installed|there)\b|\bneeds root\b/;
const EXCUSE = /\bset WEFT_BENCH_[A-Z_]+|\bGo is not installed\b/;
