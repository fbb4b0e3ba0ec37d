import { toBase64, toHex } from "../bytes.ts";
import { err, ok, type Result } from "../result.ts";
import { type ConcealProfile, type ConcealRange, PLAIN_CONCEAL } from "./profile.ts";
import { CONCEAL_READERS, type ConcealDialect, PROTECTION_KEY } from "./readers.ts";
import { brokenConcealRules, type ConcealProblem, formatConcealRange } from "./rules.ts";

/**
 * Sets keys of the configuration protocol, in any order. All of them count or none: the result is checked as a whole, and
 * everything that is wrong is reported.
 */
export function setConcealKeys(
  current: ConcealProfile,
  keys: Iterable<readonly [key: string, value: string]>,
  dialect: ConcealDialect = "uapi",
): Result<ConcealProfile, readonly ConcealProblem[]> {
  const problems: ConcealProblem[] = [];
  const read: Partial<ConcealProfile>[] = [];
  for (const [key, value] of keys) {
    const change = CONCEAL_READERS.get(key)?.(value, dialect) ?? unknownKey(key);
    if (typeof change === "string") {
      problems.push({ key, value: key === PROTECTION_KEY ? "[secret]" : value, rule: change });
    } else read.push(change);
  }
  const next = read.reduce<ConcealProfile>((profile, change) => Object.assign(profile, change), { ...current });
  if (problems.length === 0) problems.push(...brokenConcealRules(next));
  return problems.length > 0 ? err(problems) : ok(next);
}

/** All keys with the values that make this profile; those at their default are left out. */
export function concealKeys(profile: ConcealProfile, dialect: ConcealDialect = "uapi"): readonly [string, string][] {
  return [...WRITERS].flatMap(([key, write]): [string, string][] => {
    const value = write(profile, dialect);
    return value === write(PLAIN_CONCEAL, dialect) ? [] : [[key, value]];
  });
}

/** Whether a key belongs to this layer, in whatever version. */
export function isConcealKey(key: string): boolean {
  return CONCEAL_READERS.has(key) || OTHER_VERSIONS.test(key) || LATER.has(key);
}

function unknownKey(key: string): string {
  if (LATER.has(key)) return "belongs to the record layer, which is not there yet";
  if (OTHER_VERSIONS.test(key)) return "belongs to other versions and is not supported";
  return "is no key of this layer";
}

/** Keys of 1.5 and 2.0 that no receiver depends on, and slots that never were. */
const OTHER_VERSIONS = /^(?:j[1-3]|itime|i[6-9])$/;
const LATER: ReadonlySet<string> = new Set([
  "network",
  "format_in",
  "format_out",
  "header_compat",
  "fallback_port",
  "prelude_resend_interval",
]);

type Writer = (profile: ConcealProfile, dialect: ConcealDialect) => string;
const written = (value: number | string | ConcealRange): string =>
  typeof value === "object" ? formatConcealRange(value) : String(value);
const yesOrNo = (value: "on" | "off", dialect: ConcealDialect): string =>
  dialect === "conf" ? value : value === "on" ? "1" : "0";

const WRITERS: ReadonlyMap<string, Writer> = new Map<string, Writer>([
  ...(
    ["jc", "jmin", "jmax", "s1", "s2", "s3", "s4", "h1", "h2", "h3", "h4", "i1", "i2", "i3", "i4", "i5"] as const
  ).map((key): [string, Writer] => [key, (profile) => written(profile[key])]),
  [
    PROTECTION_KEY,
    ({ headerProtectionKey: key }, dialect) =>
      key === null ? "" : dialect === "conf" ? toBase64(key.expose()) : toHex(key.expose()),
  ],
  ["content_padding_addition", (profile) => written(profile.contentPaddingAddition)],
  ["rekey_after_time", (profile) => written(profile.rekeyAfterTime)],
  ["rekey_timeout", (profile) => written(profile.rekeyTimeout)],
  ["reject_after_time", (profile) => written(profile.rejectAfterTime)],
  ["keepalive_timeout", (profile) => written(profile.keepaliveTimeout)],
  ["max_handshake_attempts", (profile) => written(profile.maxHandshakeAttempts)],
  ["random_trailers", (profile, dialect) => yesOrNo(profile.randomTrailers, dialect)],
  ["disable_cookies", (profile, dialect) => yesOrNo(profile.disableCookies, dialect)],
]);
