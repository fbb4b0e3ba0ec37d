import { existsSync, writeFileSync } from "node:fs";
import type { LinkProfile, MapPeer } from "@weft/protocol";
import { aPeer } from "@weft/protocol/testing";
import { afterEach, beforeEach, expect, test } from "vitest";

import { aLog, aStateDirectory } from "../testing/fixtures.ts";
import { createVirtualTimers } from "../testing/memory-system.ts";
import { createStoredProfileMemory, type StoredProfileMemory } from "./profile-memory.ts";

const FAST: LinkProfile = { revision: 1, cipher: "aes-256-gcm", elision: "on", lanes: 1 };
const SLOW: LinkProfile = { revision: 1, cipher: "chacha20-poly1305", elision: "on", lanes: 1 };
const { publicKey } = aPeer(1);
const under = (profile: LinkProfile | null): MapPeer => aPeer(1, profile ? { profile } : {});

/** The map before said `from`, the present one says `to`. */
const change = (memory: StoredProfileMemory, from: LinkProfile | null, to: LinkProfile | null): void =>
  memory.note([under(to)], () => under(from));
/** The first map of a run says so. */
const begin = (memory: StoredProfileMemory, profile: LinkProfile | null): void =>
  memory.note([under(profile)], () => null);

let state: ReturnType<typeof aStateDirectory>;
let time: ReturnType<typeof createVirtualTimers>;
let log: ReturnType<typeof aLog>;
beforeEach(() => {
  state = aStateDirectory();
  time = createVirtualTimers();
  log = aLog();
});
afterEach(() => state.remove());

/** As at the start of the process. */
function start(): StoredProfileMemory {
  const memory = createStoredProfileMemory({ path: state.paths.profiles, timers: time.timers, log: log.log });
  memory.load();
  return memory;
}

type Case = {
  readonly name: string;
  readonly from: LinkProfile | null;
  readonly to: LinkProfile | null;
  readonly before: LinkProfile | "plain";
};
test.each<Case>([
  { name: "plain WireGuard", from: null, to: FAST, before: "plain" },
  { name: "another profile", from: FAST, to: SLOW, before: FAST },
  { name: "a profile where there is none now", from: FAST, to: null, before: FAST },
])("what was wanted before is known until it is settled, also after a restart: $name", ({ from, to, before }) => {
  const memory = start();
  change(memory, from, to);
  memory.flush();

  const again = start();
  begin(again, to);
  expect(again.before(publicKey)).toEqual(before);

  again.settle(publicKey, from);
  expect(again.before(publicKey)).toEqual(before);
  again.settle(publicKey, to);
  expect(again.before(publicKey)).toBeUndefined();
  time.advance(2_000);
  expect(start().before(publicKey)).toBeUndefined();
});

test("a map that says the same again changes nothing, also with a tunnel that was made anew", () => {
  const memory = start();
  change(memory, null, FAST);
  change(memory, FAST, FAST);

  expect(memory.before(publicKey)).toBe("plain");
});

test("what was stored about another profile than the map's is not taken: that map was never stored", () => {
  const memory = start();
  change(memory, null, FAST);
  memory.flush();

  const again = start();
  begin(again, null);

  expect(again.before(publicKey)).toBeUndefined();
});

test("a late word about an older profile settles nothing", () => {
  const memory = start();
  change(memory, null, FAST);
  change(memory, FAST, SLOW);

  memory.settle(publicKey, FAST);

  expect(memory.before(publicKey)).toEqual(FAST);
});

test("nothing is written while nothing changes, and several changes make one write", () => {
  const memory = start();
  begin(memory, FAST);
  memory.flush();
  expect(existsSync(state.paths.profiles)).toBe(false);

  change(memory, FAST, SLOW);
  expect(existsSync(state.paths.profiles)).toBe(false);
  time.advance(1_000);
  expect(existsSync(state.paths.profiles)).toBe(true);
});

test("peers that are gone are forgotten, and with the last one the file", () => {
  const memory = start();
  change(memory, null, FAST);
  memory.flush();

  memory.keepOnly(() => null);
  memory.flush();

  expect(memory.before(publicKey)).toBeUndefined();
  expect(existsSync(state.paths.profiles)).toBe(false);
});

test("forgetting calls off what was to be written", () => {
  const memory = start();
  change(memory, null, FAST);

  memory.forget();
  time.advance(10_000);

  expect(memory.before(publicKey)).toBeUndefined();
  expect(existsSync(state.paths.profiles)).toBe(false);
});

test("a damaged file is reported, and the mesh comes up without it", () => {
  writeFileSync(state.paths.profiles, "garbage");

  expect(start().before(publicKey)).toBeUndefined();
  expect(log.events()).toEqual(["profiles_not_loaded"]);
});
