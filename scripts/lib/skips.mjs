/**
 * The skips that no machine of CI may have: everything but what Debian has no package of, which are a new Go and
 * programs of other people that a path names (`WEFT_BENCH_…`).
 */
export function unexcusedSkips(skipped) {
  return skipped.filter((line) => !/\bset WEFT_BENCH_[A-Z_]+|\bGo is not installed\b/.test(line));
}
