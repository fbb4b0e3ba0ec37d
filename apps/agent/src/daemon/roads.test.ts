import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { err, ok, type MapPeer } from "@weft/protocol";
import { aPeer, aPrefix, aSelf } from "@weft/protocol/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { RoadHost } from "../os/road-host.linux.ts";
import { createVirtualTimers } from "../testing/memory-system.ts";
import { createLog } from "./log.ts";
import { forwardingTable } from "./road-firewall.ts";
import { roadPlan, type RoadFacts, type RoadPlan } from "./road-plan.ts";
import { hiddenRoutes, roadState } from "./road-state.ts";
import { createRoads, type Roads } from "./roads.ts";

const FACTS: RoadFacts = {
  interfaceName: "weft0",
  listenPort: 51_820,
  mark: 7,
  servers: [],
  clients: [],
  exitAnswers: true,
};
const router = aPeer(1, { routes: [aPrefix("192.168.9.0/24")] });
const exitNode = aPeer(2, { routes: [aPrefix("0.0.0.0/0")] });
const exit = { peerId: exitNode.id, lan: "reachable", lost: "blocked" } as const;
const serving = aSelf({
  serves: [
    { prefix: aPrefix("192.168.9.0/24"), masquerade: "on" },
    { prefix: aPrefix("192.168.9.128/25"), masquerade: "off" },
    { prefix: aPrefix("0.0.0.0/0"), masquerade: "on" },
  ],
});

function planned(self = aSelf(), routers: readonly MapPeer[] = [router], facts: Partial<RoadFacts> = {}): RoadPlan {
  const plan = roadPlan(self, routers, { ...FACTS, ...facts });
  if (!plan) throw new Error("nothing is planned");
  return plan;
}

describe("plans", () => {
  test("F-C1 without routes nothing of the host is touched, and one family's route leaves the other alone", () => {
    expect(roadPlan(aSelf(), [aPeer(3)], FACTS)).toBeNull();
    const { routes, rules, firewall, forwarding } = roadState(planned());
    expect(routes[4]).toEqual([expect.stringMatching(/^192\.168\.9\.0\/24 dev weft0 table \d+$/)]);
    expect(rules[4]).toHaveLength(3);
    expect([routes[6], rules[6], firewall, forwarding]).toEqual([[], [], null, []]);
  });

  test("ND-14 the tunnel's own datagrams and the control plane are asked for before anything leads into the tunnel", () => {
    const servers = [aSelf().ipv4].flatMap((address) => address ?? []);
    const { rules } = roadState(planned(aSelf({ exit }), [exitNode], { servers }));
    expect(rules[4].slice(0, 2)).toEqual([
      "priority 5100 fwmark 7 lookup main",
      `priority 5101 to ${String(servers[0])} lookup main`,
    ]);
    expect(rules[4].at(-1)).toMatch(/lookup \d+$/);
  });

  test("ND-15 what the exit node does not carry goes nowhere, and so does all when it is gone", () => {
    const { routes } = roadState(planned(aSelf({ exit }), [exitNode]));
    expect(routes[4].filter((line) => line.startsWith("default dev weft0"))).toHaveLength(1);
    expect(routes[6].filter((line) => line.startsWith("default"))).toEqual([]);
    for (const family of [4, 6] as const) expect(routes[family].at(-1)).toMatch(/^unreachable default/);
    const gone = roadState(planned(aSelf({ exit }), [], { exitAnswers: false }));
    expect(gone.routes[4].filter((line) => line.includes("default"))).toEqual([
      expect.stringMatching(/^unreachable default/),
    ]);
  });

  test("F-C3 a host that may go past a lost exit node does so while it does not answer", () => {
    const self = aSelf({ exit: { ...exit, lost: "direct" } });
    expect(roadPlan(self, [exitNode], { ...FACTS, exitAnswers: false })).toBeNull();
    expect(roadPlan(self, [exitNode], FACTS)?.exit).toEqual({ lan: "reachable", families: [4] });
  });

  test("CP-70 a network of the host wins over a route and is named, unless the host serves it itself", () => {
    const own = [{ prefix: aPrefix("192.168.0.0/16"), device: "eth0" }];
    expect(hiddenRoutes(planned(), own)).toEqual([{ prefix: "192.168.9.0/24", local: own[0] }]);
    expect(hiddenRoutes(planned(serving), own)).toEqual([]);
    expect(hiddenRoutes(planned(), [{ prefix: aPrefix("172.20.0.0/16"), device: "eth0" }])).toEqual([]);
    const { rules } = roadState(planned());
    expect(rules[4].findIndex((line) => line.includes("suppress_prefixlength"))).toBe(1);
  });

  test("F-C1 the firewall lets into served ranges only, names no range twice, and translates where it is asked to", () => {
    const table = forwardingTable(planned(serving));
    expect(table).toContain('iifname "weft0" ip daddr { 192.168.9.0/24 } accept');
    expect(table).toContain('iifname "weft0" oifname "weft0" drop');
    expect(table).toContain('ip daddr 192.168.9.128/25 oifname != "weft0" accept');
    expect(table).toMatch(/saddr 10\.77\.0\.0\/16 oifname != "weft0" masquerade/);
    expect(table.indexOf("192.168.9.128/25 oifname")).toBeLessThan(table.indexOf("192.168.9.0/24 oifname"));
  });
});

describe("on a host", () => {
  let folder: string;
  let settings: Map<string, string>;
  let ran: string[];
  let fails: (input: string) => string | null;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "weft-roads-"));
    settings = new Map([
      ["net/ipv4/ip_forward", "0"],
      ["net/ipv6/conf/all/forwarding", "0"],
      ["net/ipv6/conf/eth0/forwarding", "0"],
      ["net/ipv6/conf/eth0/accept_ra", "1"],
      ["net/ipv4/conf/all/src_valid_mark", "0"],
    ]);
    ran = [];
    fails = () => null;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const host = (boot = "one"): RoadHost => ({
    run(program, args, input = "") {
      ran.push(`${program} ${args.join(" ")}\n${input}`);
      const message = fails(`${program} ${args.join(" ")} ${input}`);
      return Promise.resolve(message === null ? ok("") : err({ message }));
    },
    readSetting: (path) => settings.get(path) ?? null,
    writeSetting: (path, value) => ok(void settings.set(path, value)),
    listSettings: () => ["all", "eth0"],
    bootId: () => boot,
  });
  function roadsOn(own: RoadHost): { readonly roads: Roads; readonly advance: (ms: number) => void } {
    const { timers, advance } = createVirtualTimers();
    const log = createLog(
      () => undefined,
      () => 0,
      "error",
    );
    return {
      roads: createRoads({ host: own, path: join(folder, "roads.json"), timers, log, changed: () => {} }),
      advance,
    };
  }
  const dual = aSelf({
    serves: [
      { prefix: aPrefix("192.168.9.0/24"), masquerade: "on" },
      { prefix: aPrefix("fd09::/64"), masquerade: "on" },
    ],
  });
  const settled = async (what: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 10_000 && !what(); turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(what()).toBe(true);
  };

  test("CP-72 forwarding comes with the route and goes with it; a host that listens to its routers goes on to", async () => {
    const before = new Map(settings);
    const { roads } = roadsOn(host());
    roads.want(planned(dual));
    await settled(
      () => ran.some((line) => line.includes("-6 -batch")) || settings.get("net/ipv6/conf/all/forwarding") === "1",
    );
    expect(settings.get("net/ipv4/ip_forward")).toBe("1");
    expect(settings.get("net/ipv6/conf/eth0/accept_ra")).toBe("2");
    await roads.close();
    expect(settings).toEqual(before);
    expect(ran.at(-1)).not.toContain("route replace");
  });

  test("CP-72 what a killed agent left is undone by the next one; after a boot the kernel's settings are left alone", async () => {
    const killed = roadsOn(host()).roads;
    killed.want(planned(dual));
    await settled(() => ran.some((line) => line.includes("rule add")));
    const next = roadsOn(host());
    ran = [];
    await next.roads.clear();
    expect(settings.get("net/ipv4/ip_forward")).toBe("0");
    expect(ran.join("")).toMatch(/rule del priority 5100 fwmark 7 lookup main/);
    expect(ran.join("")).toContain("delete table inet weft_weft0");
    ran = [];
    await next.roads.clear();
    expect(ran).toEqual([]);

    killed.again();
    roadsOn(host()).roads.want(planned(dual));
    await settled(() => settings.get("net/ipv4/ip_forward") === "1" && ran.some((line) => line.includes("rule add")));
    await roadsOn(host("two")).roads.clear();
    expect(settings.get("net/ipv4/ip_forward")).toBe("1");
  });

  test("F-C4 a host without a working firewall program is no router: it says that it does not forward, until it does", async () => {
    const { roads, advance } = roadsOn(host());
    expect(roads.forwarding()).toBeNull();
    fails = (input) => (input.includes("table inet") ? 'the program "nft" is not installed; install nftables' : null);
    roads.want(planned(serving));
    await settled(() => roads.forwarding() === "fails");
    expect(roads.problems().join()).toContain("nftables");
    fails = () => null;
    advance(15_000);
    await settled(() => roads.forwarding() === "works");
    roads.want(planned());
    await settled(() => roads.forwarding() === null);
    await roads.close();
  });

  test("what cannot be set is said with the reason, taken back as a whole, and tried again", async () => {
    const { roads, advance } = roadsOn(host());
    fails = (input) => (input.includes("rule add") ? "ip: Operation not permitted" : null);
    roads.want(planned());
    await settled(() => roads.problems().length > 0);
    expect(roads.problems()).toEqual(["ip: Operation not permitted"]);
    expect(ran.join("")).toContain("route flush table");
    fails = () => null;
    advance(15_000);
    await settled(() => roads.problems().length === 0);
    await roads.close();
  });
});
