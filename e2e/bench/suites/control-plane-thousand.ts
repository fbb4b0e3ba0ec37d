import { setTimeout as pause } from "node:timers/promises";

import type { LightAgent } from "../fleet/light-agent.ts";
import { createNetwork, type MeasuredNetwork, type MeasuredServer } from "../fleet/measured-server.ts";
import { createFleet } from "../fleet/fleet.ts";
import { median, percentile } from "../statistics.ts";
import {
  CONTENDER,
  type ControlScene,
  bothCpuMs,
  bytesOf,
  costOfChange,
  countOffline,
  until,
  untilLearned,
  untilQuiet,
} from "./control-plane-kit.ts";
import { measureCounters } from "./control-plane-counters.ts";

/** Cases with a thousand streams. First those that the quiet server is looked at in, the restarts last. */
export async function measureThousand(server: MeasuredServer, scene: ControlScene): Promise<void> {
  const place = await populateThousand(server);
  scene.progress(`${String(MEMBERS)} nodes have joined`);
  const cases: Readonly<Record<string, Measure>> = {
    "change-1000": () => costOfChange(server, place),
    idle: () => idle(server, scene.options.seconds),
    join: () => joins(server, place),
    counters: () => measureCounters(server, place.fleet, scene.options.seconds),
    return: () => comeBack(server, place, "with the last map"),
    "return-without-map": () => comeBack(server, place, "without a map"),
    "join-by-group": () => joins(server, place),
  };
  for (const [name, measure] of Object.entries(cases)) {
    if (!scene.wants(name, CONTENDER)) continue;
    await place.setRules(RULES_OF[name] ?? "all");
    for (let round = 1; round <= scene.options.rounds; round += 1) {
      const sample = await measure();
      scene.rows.add({ name, contender: CONTENDER, unit: UNITS[name] ?? "ms" }, { round, ...sample });
      if (sample.problem !== undefined) scene.problem(`${name}: ${sample.problem}`);
    }
  }
  place.fleet.cut();
}

type Outcome = {
  readonly value: number;
  readonly extra: Readonly<Record<string, number>>;
  readonly problem?: string;
};
type Measure = () => Promise<Outcome>;
type Rules = "small" | "all" | "staff";
type Place = Awaited<ReturnType<typeof populateThousand>>;

/** Everybody is in one group, ten are in a second one; who may talk to whom is set for each case. */
async function populateThousand(server: MeasuredServer) {
  const network = await createNetwork(server, { name: "thousand", ipv4Range: "10.66.0.0/16" });
  const groups = { staff: await network.group("staff"), small: await network.group("small") };
  const fleet = createFleet(server.url);
  const staffKey = await network.joinKey([groups.staff]);
  const small = await fleet.join(SMALL, await network.joinKey([groups.staff, groups.small]));
  await fleet.join(MEMBERS - SMALL, staffKey);
  let rules: Rules | undefined;
  let takeBack = () => Promise.resolve();
  return {
    network,
    fleet,
    small,
    staffKey,
    async setRules(next: Rules) {
      if (rules === next) return;
      await takeBack();
      rules = next;
      takeBack = await allow(network, groups, next);
      const agents = fleet.agents();
      const seen = next === "small" ? SMALL - 1 : agents.length - 1;
      // Reading a whole map belongs to this change, not to the next one.
      await until("the new rules everywhere", () =>
        (next === "small" ? small : agents).every(({ map }) => map.peerIds().size === seen),
      );
      await untilQuiet(agents);
    },
  };
}

function allow(network: MeasuredNetwork, groups: { readonly staff: string; readonly small: string }, rules: Rules) {
  switch (rules) {
    case "all":
      return network.allow();
    case "small":
      return network.allow(groups.small);
    case "staff":
      return network.allow(groups.staff, { protocol: "tcp", ports: [{ low: 22, high: 22 }] });
  }
}

/** Nodes join one after the other; until the last of all has confirmed, and what each of them was sent. */
async function joins({ cpuMs }: MeasuredServer, { fleet, staffKey }: Place): Promise<Outcome> {
  const [times, bytes, cpu]: [number[], number[], number[]] = [[], [], []];
  for (let turn = 0; turn < JOINS; turn += 1) {
    const old = fleet.agents();
    const [bytesBefore, cpuBefore, beganMs] = [bytesOf(old), cpuMs().server, performance.now()];
    const [newcomer] = await fleet.join(1, staffKey);
    if (!newcomer) throw new Error("nobody joined");
    times.push((await untilLearned(fleet, { id: newcomer.peerId, count: old.length })) - beganMs);
    await untilQuiet([...old, newcomer]);
    bytes.push((bytesOf(old) - bytesBefore) / old.length);
    cpu.push(cpuMs().server - cpuBefore);
  }
  const extra = { bytesPerAgent: median(bytes), p50Ms: median(times), cpuMs: median(cpu) };
  return { value: percentile(times, 0.95), extra, ...differing(fleet.agents()) };
}

/** Everybody must see everybody. */
function differing(agents: readonly LightAgent[]): { readonly problem?: string } {
  const wrong = agents.filter(({ map }) => map.peerIds().size !== agents.length - 1).length;
  return wrong === 0 ? {} : { problem: `${String(wrong)} of ${String(agents.length)} maps are wrong` };
}

/** Streams and heartbeats alone: percent of one core, memory, and what is written. */
async function idle(server: MeasuredServer, seconds: number): Promise<Outcome> {
  await pause(SETTLE_MS);
  const [writes, before, own] = [await server.writes(), bothCpuMs(server), server.cpuMs().server];
  await pause(seconds * 1_000);
  const percent = (ms: number) => ms / (seconds * 10);
  const memory = server.memoryMb();
  return {
    value: percent(bothCpuMs(server) - before),
    extra: {
      serverPercent: percent(server.cpuMs().server - own),
      serverMb: memory.server,
      databaseMb: memory.database,
      bothMb: memory.server + memory.database,
      writesPer10s: ((await server.writes()) - writes) / (seconds / 10),
    },
  };
}

/** The server restarts, and all nodes are there at the moment at which it listens again; people look at the list meanwhile. */
async function comeBack(
  server: MeasuredServer,
  { fleet, network }: Place,
  as: "with the last map" | "without a map",
): Promise<Outcome> {
  const total = fleet.agents().length;
  await server.restart();
  const beganMs = performance.now();
  const look = startLooking(server, network);
  const refusals = fleet.refusals();
  const agents = await fleet.comeBack(as);
  await until("a map for everybody", () => agents.every(({ map }) => map.version() !== undefined));
  const value = performance.now() - beganMs;
  const { times, falseOffline } = await look.stop();
  await untilQuiet(agents);
  const extra = {
    apiP95Ms: percentile(times, 0.95),
    looks: times.length,
    falseOffline,
    refusals: fleet.refusals() - refusals,
  };
  const lost = total - agents.filter((agent) => agent.isOpen()).length;
  return { value, extra, ...(lost === 0 ? {} : { problem: `${String(lost)} streams were lost` }) };
}

/** Asks for a page of peers again and again. */
function startLooking({ owner }: MeasuredServer, network: MeasuredNetwork) {
  const times: number[] = [];
  let falseOffline = 0;
  const end = new AbortController();
  const running = (async () => {
    while (!end.signal.aborted) {
      const beganMs = performance.now();
      falseOffline += countOffline(await owner.client.get(`/networks/${network.id}/peers?limit=100`));
      times.push(performance.now() - beganMs);
      await pause(LOOK_MS);
    }
  })();
  return {
    async stop() {
      end.abort();
      await running;
      return { times, falseOffline };
    },
  };
}

export const THOUSAND_CASES = [
  "change-1000",
  "idle",
  "join",
  "counters",
  "return",
  "return-without-map",
  "join-by-group",
];
const RULES_OF: Readonly<Record<string, Rules>> = { "change-1000": "small", "join-by-group": "staff" };
const UNITS: Readonly<Record<string, string>> = {
  "change-1000": "ms CPU",
  idle: "% of a core",
  join: "ms p95",
  "join-by-group": "ms p95",
  counters: "cores",
};
const MEMBERS = 1_000;
const SMALL = 10;
const JOINS = 8;
const SETTLE_MS = 2_000;
const LOOK_MS = 50;
