import { CONCEAL_KINDS, CONCEAL_SIGNATURES, type ConcealProfile, type ConcealRange } from "./profile.ts";

/** What is wrong with one key: a sentence names the rule and what is allowed. */
export type ConcealProblem = { readonly key: string; readonly value: string; readonly rule: string };

/** One line for a person. */
export function formatConcealProblem({ key, value, rule }: ConcealProblem): string {
  return `${key} = ${value.slice(0, 100)}: ${rule}`;
}

/** Rules between keys; each key alone was checked when it was read. */
export function brokenConcealRules(profile: ConcealProfile): readonly ConcealProblem[] {
  return [...junkProblems(profile), ...protectionProblems(profile), ...overlapProblems(profile)];
}

/** What is allowed but makes a profile easy to recognise or hard to carry. */
export function concealAdvice(profile: ConcealProfile): readonly string[] {
  const { jc, jmax, headerProtectionKey, randomTrailers } = profile;
  const advice: string[] = [];
  if (jmax > MTU_SAFE) advice.push(`jmax is above ${MTU_SAFE}: junk may not fit narrow paths.`);
  if (jc > 0 && (jc < 4 || jc > 12)) advice.push("jc is best 4 to 12.");
  const types = CONCEAL_KINDS.map((kind) => profile[kind.types]);
  if (headerProtectionKey && types.some(({ low, high }, place) => low !== place + 1 || high !== place + 1)) {
    advice.push("With a header protection key leave h1 to h4 at 1 to 4.");
  }
  const paddings = new Set(CONCEAL_KINDS.map((kind) => profile[kind.padding]));
  const isWide = types.slice(0, 3).some(({ low, high }) => low !== high);
  if (randomTrailers === "on" && paddings.size > 1 && isWide) {
    advice.push("With random trailers keep s1 to s4 equal, or h1 to h3 single values.");
  }
  if (isFixed(profile)) advice.push("A signature without any random part looks alike in every installation.");
  return advice;
}

function isFixed(profile: ConcealProfile): boolean {
  return CONCEAL_SIGNATURES.some((slot) => profile[slot] !== "" && !/<r[dc]? /.test(profile[slot]));
}

function junkProblems({ jc, jmin, jmax }: ConcealProfile): readonly ConcealProblem[] {
  if (jc > 0 && jmin === 0) return [{ key: "jmin", value: "", rule: "must be 1 to 65507 when jc is above 0" }];
  if (jc > 0 && jmax === 0) return [{ key: "jmax", value: "", rule: "must be 1 to 65507 when jc is above 0" }];
  if (jmin > jmax && (jc > 0 || jmax > 0)) {
    return [{ key: "jmin", value: String(jmin), rule: `must not be above jmax, which is ${jmax}` }];
  }
  return [];
}

function protectionProblems(profile: ConcealProfile): readonly ConcealProblem[] {
  if (!profile.headerProtectionKey) return [];
  return CONCEAL_KINDS.filter(({ padding }) => profile[padding] < NONCE_BYTES).map(({ padding }) => ({
    key: padding,
    value: String(profile[padding]),
    rule: `must be ≥ ${NONCE_BYTES} with a header protection key`,
  }));
}

function overlapProblems(profile: ConcealProfile): readonly ConcealProblem[] {
  return CONCEAL_KINDS.flatMap(({ types: key }, place) =>
    CONCEAL_KINDS.slice(place + 1)
      .filter(({ types: other }) => overlaps(profile[key], profile[other]))
      .map(({ types: other }) => ({
        key,
        value: formatConcealRange(profile[key]),
        rule: `has numbers in common with ${other} (${formatConcealRange(profile[other])}); the four ranges must be disjoint, defaults included`,
      })),
  );
}

function overlaps(left: ConcealRange, right: ConcealRange): boolean {
  return left.low <= right.high && right.low <= left.high;
}

/** `N` or `N-M`. */
export function formatConcealRange({ low, high }: ConcealRange): string {
  return low === high ? String(low) : `${low}-${high}`;
}

/** Header protection takes its nonce from the padding. */
const NONCE_BYTES = 12;
const MTU_SAFE = 1_280;
