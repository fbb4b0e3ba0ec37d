import { parseIp } from "@weft/protocol";
import { aNetworkMap, mustBe } from "@weft/protocol/testing";
import { expect, test } from "vitest";

import { aLog } from "../testing/fixtures.ts";
import { createVirtualTimers } from "../testing/memory-system.ts";
import type { OwnSettings } from "./own-settings.ts";
import { createSettingsTrial } from "./settings-trial.ts";

const MAP = aNetworkMap(1);
const own = (last: number): OwnSettings => ({
  self: { ...MAP.self, ipv4: mustBe(parseIp(`10.77.0.${last}`)) as OwnSettings["self"]["ipv4"] },
  routers: [],
  names: null,
});

/** A server that answers under some settings only, and sometimes not at all. */
function setup(stored: OwnSettings | null = null, trialMs = 60_000) {
  const { timers, advance } = createVirtualTimers();
  const world = { reachableUnder: [1, 2, 3] as readonly number[], server: "there" as "there" | "away" };
  const saved: OwnSettings[] = [];
  const used: (OwnSettings | null)[] = [];
  let map = own(0);
  let instead: OwnSettings | null = null;
  const trial = createSettingsTrial({
    timers,
    log: aLog().log,
    trialMs,
    load: () => stored,
    save: (proven) => void saved.push(proven),
    use(settings) {
      used.push(settings);
      instead = settings;
    },
    ask() {
      const last = Number((instead ?? map).self.ipv4?.split(".")[3]);
      const askedAtMs = timers.nowMs();
      if (world.server === "there" && world.reachableUnder.includes(last)) trial.answered(askedAtMs);
    },
    reconnect: () => {},
    changed: () => {},
  });
  const apply = (last: number): void => {
    map = own(last);
    trial.applied(map);
  };
  const inUse = (): string | null => (instead ?? map).self.ipv4;
  return { trial, world, advance, apply, saved, used, inUse };
}

test("AP-52 settings that cut the server off give way to the previous ones after 60 s, which is said, until others come", () => {
  const { trial, world, advance, apply, inUse, used } = setup();
  apply(1);
  advance(60_000);
  expect([inUse(), trial.problems()]).toEqual(["10.77.0.1", []]);

  world.reachableUnder = [1, 3];
  apply(2);
  advance(59_000);
  expect(inUse()).toBe("10.77.0.2");
  advance(2_000);
  expect(inUse()).toBe("10.77.0.1");
  expect(trial.problems()).toEqual([expect.stringContaining("the previous ones are in use")]);
  // Hours later, and when the same map comes once more.
  advance(3_600_000);
  apply(2);
  expect(inUse()).toBe("10.77.0.1");

  apply(3);
  expect([inUse(), trial.problems()]).toEqual(["10.77.0.3", []]);
  advance(3_600_000);
  expect(inUse()).toBe("10.77.0.3");
  expect(used).toEqual([own(1), null]);
});

test("AP-52 a server that is away under the previous settings too is no reason: those of the map come back, and stay", () => {
  const { trial, world, advance, apply, inUse, saved } = setup();
  apply(1);
  advance(60_000);
  world.server = "away";
  apply(2);
  advance(125_000);
  expect([inUse(), trial.problems()]).toEqual(["10.77.0.2", []]);
  advance(3_600_000);
  world.server = "there";
  advance(60_000);

  expect(inUse()).toBe("10.77.0.2");
  expect(saved.map(({ self }) => self.ipv4)).toEqual(["10.77.0.1", "10.77.0.2"]);
});

test("what an answer from before the change says of the server is nothing", () => {
  const { trial, world, advance, apply, inUse } = setup();
  apply(1);
  advance(60_000);
  world.reachableUnder = [1];
  apply(2);
  trial.answered(60_000);
  advance(61_000);

  expect(inUse()).toBe("10.77.0.1");
});

test("a start with settings of a trial that nobody saw end is a trial again; first settings have nothing to go back to", () => {
  const again = setup(own(1));
  again.world.reachableUnder = [1];
  again.apply(2);
  again.advance(61_000);
  expect(again.inUse()).toBe("10.77.0.1");

  const first = setup();
  first.world.reachableUnder = [];
  first.apply(1);
  first.advance(600_000);
  expect(first.inUse()).toBe("10.77.0.1");
  expect(first.trial.problems()).toEqual([]);
});

test("a map that asks nothing else of the host begins no trial", () => {
  const { trial, advance, apply, used, world } = setup();
  apply(1);
  advance(60_000);
  world.server = "away";
  trial.applied({ ...own(1), self: { ...own(1).self, name: "renamed" } });
  advance(600_000);

  expect(used).toEqual([]);
});
