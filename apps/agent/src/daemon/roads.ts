import type { Prefix, Result } from "@weft/protocol";
import { parsePrefix } from "@weft/protocol";

import type { RoadHost } from "../os/road-host.linux.ts";
import { loadRoadFile, saveRoadFile, type RoadTraces } from "../state/road-file.ts";
import { removeFile } from "../state/files.ts";
import type { Timers } from "../stream/timers.ts";
import { settingsToWrite, valuesBefore, type Setting } from "./kernel-settings.ts";
import type { Log } from "./log.ts";
import { firewallTable } from "./road-firewall.ts";
import type { RoadPlan } from "./road-plan.ts";
import { hiddenRoutes, NO_ROADS, roadState, routingTable, type FamilyLines, type RoadState } from "./road-state.ts";

/** Keeps the host's routing as the map wants it, and puts it back. */
export type Roads = {
  /** The newest plan wins; null = nothing. */
  readonly want: (plan: RoadPlan | null) => void;
  /** The interface was away for a moment: the kernel may have forgotten its routes. */
  readonly again: () => void;
  /** What could not be set, and what this means, as sentences. */
  readonly problems: () => readonly string[];
  /** Whether the host forwards into the ranges of the plan; `null` when it is asked for none. */
  readonly forwarding: () => "works" | "fails" | null;
  /** Undoes what an earlier process left behind. */
  readonly clear: () => Promise<void>;
  /** Undoes everything; nothing is set any more. */
  readonly close: () => Promise<void>;
};

export type RoadsDeps = {
  readonly host: RoadHost;
  /** Where the traces are kept for the next start. */
  readonly path: string;
  readonly timers: Timers;
  readonly log: Log;
  /** Problems may be others now. */
  readonly changed: () => void;
};

type Applied = {
  state: RoadState;
  settings: readonly Setting[];
  interfaceName: string | null;
  forwarding: "works" | "fails" | null;
};

export function createRoads(deps: RoadsDeps): Roads {
  const { host, path, timers, log } = deps;
  const applied: Applied = { state: NO_ROADS, settings: [], interfaceName: null, forwarding: null };
  let wanted: RoadPlan | null = null;
  let turn: "done" | "due" | "over" = "done";
  let running: Promise<void> = Promise.resolve();
  let problems: readonly string[] = [];
  let cancelRetry = (): void => {};

  const applyOnce = async (): Promise<void> => {
    const plan = wanted;
    const forwardingBefore = applied.forwarding;
    const found = await bringTo({ host, path, applied }, plan);
    if (plan) found.push(...(await hiddenBy(host, plan)));
    const before = [forwardingBefore, ...problems].join("\n");
    problems = found;
    if ([applied.forwarding, ...problems].join("\n") === before) return;
    for (const message of problems) log.warn("routing_incomplete", { message });
    deps.changed();
  };
  const takeTurn = (): boolean => {
    if (turn !== "due") return false;
    turn = "done";
    return true;
  };
  const work = async (): Promise<void> => {
    while (takeTurn()) {
      cancelRetry();
      await applyOnce();
      if (problems.length > 0) cancelRetry = timers.after(RETRY_MS, due);
    }
  };
  const due = (): void => {
    if (turn !== "done") return;
    turn = "due";
    running = running.then(work).catch((error: unknown) => log.error("routing_failed", { reason: String(error) }));
  };
  return {
    want(plan) {
      if (JSON.stringify(plan) === JSON.stringify(wanted)) return;
      wanted = plan;
      due();
    },
    again() {
      if (!wanted) return;
      applied.state = { ...applied.state, routes: NO_ROADS.routes };
      due();
    },
    problems: () => problems,
    forwarding: () => applied.forwarding,
    async clear() {
      const traces = loadRoadFile(path);
      if (!traces) return;
      await undo(host, traces);
      removeFile(path);
      log.info("routing_restored", { interfaceName: traces.interfaceName });
    },
    async close() {
      turn = "over";
      cancelRetry();
      wanted = null;
      await running.catch(() => undefined);
      await bringTo({ host, path, applied }, null);
    },
  };
}

type Place = { readonly host: RoadHost; readonly path: string; readonly applied: Applied };

/** Brings the host from what is set to what a plan wants; returns what went wrong. */
async function bringTo({ host, path, applied }: Place, plan: RoadPlan | null): Promise<string[]> {
  const state = plan ? roadState(plan) : NO_ROADS;
  const before = applied.state;
  const interfaceName = plan?.interfaceName ?? applied.interfaceName;
  if (interfaceName === null) return [];
  applied.interfaceName = interfaceName;
  const settings = settingsToWrite(host, state);
  const kept = mergeSettings(applied.settings, valuesBefore(host, settings));
  const drops = dropsSettings(before, state);
  // What will be changed stands on disk before it is changed.
  saveRoadFile(path, tracesOf({ bootId: host.bootId(), interfaceName }, { rules: [before.rules, state.rules], kept }));
  const found: string[] = [];
  const note = (result: Result<unknown, { readonly message: string }>): boolean => {
    if (!result.ok) found.push(result.error.message);
    return result.ok;
  };
  const settingsHold = settings.map((setting) => note(host.writeSetting(...setting))).every((isSet) => isSet);
  applied.settings = kept;
  if (before.firewall !== state.firewall && note(await setFirewall(host, interfaceName, state.firewall))) {
    applied.state = { ...applied.state, firewall: state.firewall };
  }
  const firewallStands = applied.state.firewall === state.firewall;
  applied.forwarding = state.forwarding.length === 0 ? null : settingsHold && firewallStands ? "works" : "fails";
  if (state.firewall && plan && plan.serves.length + plan.clients.length > 0) found.push(...(await foreignDrops(host)));
  for (const family of [4, 6] as const) {
    const lines = difference(before, state, family);
    if (lines.length === 0) continue;
    if (family === 6 && host.readSetting("net/ipv6/conf/all/forwarding") === null) continue;
    const set = await host.run("ip", [`-${family}`, "-batch", "-"], `${lines.join("\n")}\n`);
    if (!note(set)) await startOver({ host, interfaceName, before, state }, family);
    applied.state = withFamily(applied.state, set.ok ? state : NO_ROADS, family);
  }
  const { forwarding, withoutRedirects, markedSources } = state;
  applied.state = { ...applied.state, forwarding, withoutRedirects, markedSources };
  if (drops) {
    for (const setting of applied.settings) host.writeSetting(...setting);
    const still = settingsToWrite(host, state);
    applied.settings = valuesBefore(host, still);
    for (const setting of still) note(host.writeSetting(...setting));
  }
  if (!plan) removeFile(path);
  return [...new Set(found)];
}

/** True when something that was switched on for the state before is not wanted any more. */
function dropsSettings(before: RoadState, state: RoadState): boolean {
  const gone = before.forwarding.some((family) => !state.forwarding.includes(family));
  const redirectsAgain = before.withoutRedirects !== null && state.withoutRedirects === null;
  return gone || redirectsAgain || (before.markedSources === "counted" && state.markedSources === "as-is");
}

/** Values from before all of our changes: what was noted first is what the host had. */
function mergeSettings(known: readonly Setting[], newer: readonly Setting[]): readonly Setting[] {
  const paths = new Set(known.map(([path]) => path));
  return [...newer.filter(([path]) => !paths.has(path)), ...known];
}

function tracesOf(
  own: Pick<RoadTraces, "bootId" | "interfaceName">,
  { rules, kept }: { readonly rules: readonly FamilyLines[]; readonly kept: readonly Setting[] },
): RoadTraces {
  const lines = ([4, 6] as const).flatMap((family) =>
    [...new Set(rules.flatMap((byFamily) => byFamily[family]))].map((line) => [family, line] as const),
  );
  return { ...own, rules: lines, settings: kept };
}

/** Rules go before the routes they lead to, and come after them. */
function difference(before: RoadState, state: RoadState, family: 4 | 6): string[] {
  const without = (from: readonly string[], others: readonly string[]) => from.filter((line) => !others.includes(line));
  const [rules, routes] = [before.rules[family], before.routes[family]];
  return [
    ...without(rules, state.rules[family]).map((line) => `rule del ${line}`),
    ...without(state.routes[family], routes).map((line) => `route replace ${line}`),
    ...without(routes, state.routes[family]).map((line) => `route del ${line}`),
    ...without(state.rules[family], rules).map((line) => `rule add ${line}`),
  ];
}

/** Something of a batch failed, so nobody knows how far it came: everything of the family goes. */
async function startOver(
  own: {
    readonly host: RoadHost;
    readonly interfaceName: string;
    readonly before: RoadState;
    readonly state: RoadState;
  },
  family: 4 | 6,
): Promise<void> {
  const rules = [...new Set([...own.before.rules[family], ...own.state.rules[family]])];
  await removeFamily(own.host, { family, rules, table: routingTable(own.interfaceName) });
}

async function removeFamily(
  host: RoadHost,
  { family, rules, table }: { readonly family: 4 | 6; readonly rules: readonly string[]; readonly table: number },
): Promise<void> {
  const lines = rules.map((line) => `rule del ${line}\n`);
  if (lines.length > 0) await host.run("ip", [`-${family}`, "-force", "-batch", "-"], lines.join(""));
  await host.run("ip", [`-${family}`, "route", "flush", "table", String(table)]);
}

async function undo(host: RoadHost, { bootId, interfaceName, rules, settings }: RoadTraces): Promise<void> {
  const table = routingTable(interfaceName);
  for (const family of [4, 6] as const) {
    const own = rules.flatMap(([of, line]) => (of === family ? [line] : []));
    await removeFamily(host, { family, rules: own, table });
  }
  await setFirewall(host, interfaceName, null);
  // A host that has booted since has its own settings again.
  if (bootId === host.bootId()) for (const setting of settings) host.writeSetting(...setting);
}

/** In one step: the table is never half there. */
function setFirewall(host: RoadHost, interfaceName: string, table: string | null) {
  const name = firewallTable(interfaceName);
  return host.run("nft", ["-f", "-"], `table inet ${name}\ndelete table inet ${name}\n${table ?? ""}`);
}

function withFamily(state: RoadState, from: RoadState, family: 4 | 6): RoadState {
  return {
    ...state,
    routes: { ...state.routes, [family]: from.routes[family] },
    rules: { ...state.rules, [family]: from.rules[family] },
  };
}

/** Other tables of the host's firewall that drop what nobody allows there; ours cannot overrule them. */
async function foreignDrops(host: RoadHost): Promise<string[]> {
  const listed = await host.run("nft", ["list", "chains"]);
  if (!listed.ok) return [];
  let table = "";
  return listed.value.split("\n").flatMap((line) => {
    table = /^table (.+) \{/.exec(line)?.[1] ?? table;
    if (!/hook forward .*policy drop/.test(line)) return [];
    return [
      `the host's own firewall (table ${table}) drops forwarded packets unless it is told otherwise; allow those that come from and go to the tunnel interface there`,
    ];
  });
}

/** Routes of the map that a network of this host hides: its own network wins. */
async function hiddenBy(host: RoadHost, plan: RoadPlan): Promise<string[]> {
  if (plan.routes.length === 0) return [];
  const own: { prefix: Prefix; device: string }[] = [];
  for (const family of [4, 6] as const) {
    const listed = await host.run("ip", [`-${family}`, "route", "show", "table", "main"]);
    for (const line of listed.ok ? listed.value.split("\n") : []) {
      const [, text = "", device = ""] = /^(\S+).* dev (\S+)/.exec(line) ?? [];
      const prefix = parsePrefix(text);
      if (prefix.ok && !text.startsWith("fe80:")) own.push({ prefix: prefix.value, device });
    }
  }
  return hiddenRoutes(plan, own).map(
    ({ prefix, local }) =>
      `the route to ${prefix} is hidden by this host's own network ${local.prefix} on ${local.device}, which wins; number one of them otherwise`,
  );
}

const RETRY_MS = 15_000;
