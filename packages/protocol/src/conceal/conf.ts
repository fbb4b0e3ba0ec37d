import { err, ok, type Result } from "../result.ts";
import { concealKeys, isConcealKey, setConcealKeys } from "./keys.ts";
import { type ConcealProfile, type ConcealRange, PLAIN_CONCEAL } from "./profile.ts";
import type { ConcealProblem } from "./rules.ts";

/** A section of a `.conf` file without the keys that disguise: names as they are written, in order. */
export type ConfSection = readonly (readonly [name: string, value: string])[];

/** A `.conf` file of AmneziaWG or WireGuard. */
export type AmneziaConf = {
  readonly profile: ConcealProfile;
  readonly interface: ConfSection;
  readonly peers: readonly ConfPeer[];
  /** What was read but means nothing here. */
  readonly warnings: readonly string[];
};

export type ConfPeer = {
  readonly lines: ConfSection;
  /** Seconds; 0-0 = none. */
  readonly persistentKeepalive: ConcealRange;
};

/** Reads a file; `key` of a problem is the name in the configuration protocol. */
export function parseAmneziaConf(text: string): Result<AmneziaConf, readonly ConcealProblem[]> {
  const sections = sectionsOf(text);
  if (!sections.ok) return sections;
  const warnings: string[] = [];
  const problems: ConcealProblem[] = [];
  const keys: [string, string][] = [];
  const own: [string, string][] = [];
  const peers: ConfPeer[] = [];
  for (const { name, lines } of sections.value) {
    if (name === "peer") {
      const peer = peerOf(lines, warnings);
      if ("rule" in peer) problems.push(peer);
      else peers.push(peer);
      continue;
    }
    for (const [line, value] of lines) {
      const key = uapiKey(line);
      if (DROPPED.test(key)) warnings.push(`${line} belongs to other versions and was left out.`);
      else if (!isConcealKey(key)) own.push([line, value]);
      // An empty field of a form means the default.
      else if (value !== "") keys.push([key, value]);
    }
  }
  const profile = setConcealKeys(PLAIN_CONCEAL, keys, "conf");
  if (!profile.ok) problems.push(...profile.error);
  if (!profile.ok || problems.length > 0) return err(problems);
  return ok({ profile: profile.value, interface: own, peers, warnings });
}

/** Writes a file that AmneziaWG's tools read. */
export function formatAmneziaConf(conf: Pick<AmneziaConf, "profile" | "interface" | "peers">): string {
  const disguise = concealKeys(conf.profile, "conf").map(([key, value]): [string, string] => [confName(key), value]);
  const section = (name: string, lines: ConfSection): string =>
    [`[${name}]`, ...lines.map(([line, value]) => `${line} = ${value}`), ""].join("\n");
  return [
    section("Interface", [...conf.interface, ...disguise]),
    ...conf.peers.map(({ lines, persistentKeepalive: { low, high } }) =>
      section("Peer", [
        ...lines,
        ...(high === 0 ? [] : [[KEEPALIVE, low === high ? String(low) : `${low}-${high}`] as const]),
      ]),
    ),
  ].join("\n");
}

type Section = { readonly name: "interface" | "peer"; readonly lines: [string, string][] };

function sectionsOf(text: string): Result<readonly Section[], readonly ConcealProblem[]> {
  const sections: Section[] = [];
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.replace(/#.*$/, "").trim();
    if (line === "") continue;
    const header = /^\[\s*(interface|peer)\s*\]$/i.exec(line)?.[1]?.toLowerCase();
    if (header === "interface" || header === "peer") {
      sections.push({ name: header, lines: [] });
      continue;
    }
    const equals = line.indexOf("=");
    const current = sections.at(-1);
    if (equals < 0 || !current) {
      return err([{ key: "line", value: line, rule: "must be Name = value inside [Interface] or [Peer]" }]);
    }
    const name = line.slice(0, equals).replaceAll(/\s/g, "");
    const value = line.slice(equals + 1);
    current.lines.push([name, KEEPS_SPACES.test(name) ? value.trim() : value.replaceAll(/\s/g, "")]);
  }
  return ok(sections);
}

function peerOf(lines: ConfSection, warnings: string[]): ConfPeer | ConcealProblem {
  const kept: [string, string][] = [];
  let persistentKeepalive: ConcealRange = { low: 0, high: 0 };
  for (const [name, value] of lines) {
    const lower = name.toLowerCase();
    if (lower === "advancedsecurity") {
      warnings.push(`${name} is a key of a kernel back end and was left out.`);
    } else if (lower === KEEPALIVE.toLowerCase()) {
      const [, first = "", second = first] = /^(\d+)(?:-(\d+))?$/.exec(value === "off" ? "0" : value) ?? [];
      const [low, high] = [Number(first), Number(second)];
      const isRange = first !== "" && low <= high && high <= KEEPALIVE_MAX;
      if (!isRange && value !== "") {
        const rule = `must be N or N-M with N ≤ M, 0 to ${KEEPALIVE_MAX}, digits only`;
        return { key: "persistent_keepalive_interval", value, rule };
      }
      persistentKeepalive = value === "" ? persistentKeepalive : { low, high };
    } else kept.push([name, value]);
  }
  return { lines: kept, persistentKeepalive };
}

/** `HeaderProtectionKey` → `header_protection_key`; names are matched without regard to case. */
function uapiKey(name: string): string {
  return UAPI_NAMES.get(name.toLowerCase()) ?? name.toLowerCase();
}

function confName(key: string): string {
  return CONF_NAMES.find((name) => snake(name) === key) ?? `${key.charAt(0).toUpperCase()}${key.slice(1)}`;
}

function snake(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}

/** Names of more than one word; all others differ in case only. */
const CONF_NAMES = [
  "HeaderProtectionKey",
  "ContentPaddingAddition",
  "RekeyAfterTime",
  "RekeyTimeout",
  "RejectAfterTime",
  "KeepaliveTimeout",
  "MaxHandshakeAttempts",
  "RandomTrailers",
  "DisableCookies",
  "FormatIn",
  "FormatOut",
  "FallbackPort",
  "HeaderCompat",
  "PreludeResendInterval",
];
const UAPI_NAMES: ReadonlyMap<string, string> = new Map(CONF_NAMES.map((name) => [name.toLowerCase(), snake(name)]));
const KEEPS_SPACES = /^(?:i[1-5]|formatin|formatout|pre(?:up|down)|post(?:up|down))$/i;
const DROPPED = /^(?:j[1-3]|itime)$/;
const KEEPALIVE = "PersistentKeepalive";
const KEEPALIVE_MAX = 65_535;
