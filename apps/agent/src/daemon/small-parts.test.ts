import { existsSync, readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { aNetworkMap, aPeer, aPublicKey } from "@weft/protocol/testing";
import type { AgentFrame, PublicKey } from "@weft/protocol";

import { aLog, aStateDirectory } from "../testing/fixtures.ts";
import { createMemorySystem, createVirtualTimers } from "../testing/memory-system.ts";
import { makeIdentity } from "../state/identity.ts";
import { createInterfaceGuard } from "./interface-guard.ts";
import { findPeer } from "./local-handler.ts";
import { parseLocalRequest } from "./local-protocol.ts";
import { createLog, fileSink } from "./log.ts";
import { createMapSync } from "./map-sync.ts";
import { createShutdown } from "./shutdown.ts";
import { createStatusReporter } from "./status-reporter.ts";

describe("the log", () => {
  test("AP-49 the same event is written ten times a minute at most, and what was left out is told", () => {
    const lines: string[] = [];
    let nowMs = 0;
    const log = createLog(
      (line) => void lines.push(line),
      () => nowMs,
    );

    for (let count = 0; count < 500; count += 1) log.warn("again", { count });
    log.warn("other");
    nowMs = 60_000;
    log.warn("again", { count: 500 });

    expect(lines).toHaveLength(12);
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ event: "again", leftOut: 490, level: "warn" });
  });

  test("levels below the threshold are not written", () => {
    const lines: string[] = [];
    const log = createLog(
      (line) => void lines.push(line),
      () => 0,
      "warn",
    );

    log.debug("a");
    log.info("b");
    log.error("c");

    expect(lines).toHaveLength(1);
  });

  test("the last 500 lines stay at hand, long ones cut, whatever becomes of them", () => {
    const log = createLog(
      () => undefined,
      () => 0,
    );

    for (let count = 0; count < 2_000; count += 1) log.audit("again", { count, padding: "x".repeat(5_000) });

    const lines = log.recent();
    expect(lines).toHaveLength(500);
    expect(lines.at(0)).toContain('"count":1500,');
    expect(lines.at(-1)).toContain('"count":1999,');
    expect(Math.max(...lines.map((line) => line.length))).toBe(2_000);
  });

  test("a log file has a bounded size and one predecessor", () => {
    const state = aStateDirectory();
    const sink = fileSink(state.paths.log, 1000);

    for (let count = 0; count < 200; count += 1) sink(`${"x".repeat(50)}\n`);

    expect(statSync(state.paths.log).size).toBeLessThanOrEqual(1000);
    expect(statSync(`${state.paths.log}.1`).size).toBeLessThanOrEqual(1000);
    expect(statSync(state.paths.log).mode & 0o777).toBe(0o600);
    expect(readFileSync(state.paths.log, "utf8").endsWith("\n")).toBe(true);
    expect(existsSync(`${state.paths.log}.2`)).toBe(false);
    state.remove();
  });
});

describe("shutdown", () => {
  test("steps run in reverse; one that fails or hangs does not stop the others", async () => {
    const { timers, advance } = createVirtualTimers();
    const { log, events } = aLog();
    const order: string[] = [];
    const shutdown = createShutdown(timers, log);
    shutdown.add({ name: "first", deadlineMs: 100, run: () => void order.push("first") });
    shutdown.add({ name: "hangs", deadlineMs: 100, run: () => new Promise(() => {}) });
    shutdown.add({ name: "fails", deadlineMs: 100, run: () => Promise.reject(new Error("no")) });
    shutdown.add({ name: "last", deadlineMs: 100, run: () => void order.push("last") });

    const done = shutdown.run();
    for (let turn = 0; turn < 20; turn += 1) {
      await Promise.resolve();
      advance(10);
    }
    await done;

    expect(order).toEqual(["last", "first"]);
    expect(events()).toEqual(["shutdown_step_failed", "shutdown_step_late"]);
  });

  test("running it twice runs the steps once", async () => {
    const { timers } = createVirtualTimers();
    let runs = 0;
    const shutdown = createShutdown(timers, aLog().log);
    shutdown.add({ name: "x", deadlineMs: 100, run: () => void (runs += 1) });

    await Promise.all([shutdown.run(), shutdown.run()]);

    expect(runs).toBe(1);
  });
});

describe("reports", () => {
  function start(peerCount: number) {
    const { timers, advance } = createVirtualTimers();
    const system = createMemorySystem();
    const sync = createMapSync((self) =>
      system.createTunnel({
        ...self,
        interfaceName: "weft0",
        listenPort: 1,
        privateKey: makeIdentity().wireguardKey,
        onEvent: () => {},
      }),
    );
    sync.applyMap(aNetworkMap(peerCount));
    const sent: AgentFrame[] = [];
    let problems: string[] = [];
    let skewMs: number | null = null;
    const reporter = createStatusReporter({
      timers,
      wallClockMs: () => 5_000,
      counterEpoch: () => 9n,
      send: (frame) => void sent.push(frame),
      tunnel: sync.tunnel,
      peerByKey: (key: PublicKey) => sync.peerByKey(key),
      endpoints: () => [],
      problems: () => (Math.abs(skewMs ?? 0) >= 1_000 ? ["clock"] : problems),
      clockSkewMs: () => skewMs,
      forwarding: () => null,
      cipher: { offered: "aes-256-gcm", reason: "measured" },
      usage: () => ({ cpuMicroseconds: 1n, rssBytes: 2 }),
    });
    const count = (kind: AgentFrame["kind"]): number => sent.filter((frame) => frame.kind === kind).length;
    return {
      reporter,
      advance,
      sent,
      count,
      setProblems: (next: string[]) => (problems = next),
      setSkew: (next: number) => (skewMs = next),
    };
  }

  test("AP-61 every 10 s, every second while watched, 10 s again on the next stream", () => {
    const { reporter, advance, count } = start(2);
    reporter.connected();
    expect(count("counters")).toBe(1);
    advance(30_000);
    expect(count("counters")).toBe(4);

    reporter.watch(1_000);
    advance(5_000);
    expect(count("counters")).toBe(10);

    reporter.disconnected();
    advance(60_000);
    expect(count("counters")).toBe(10);
    reporter.connected();
    advance(9_000);
    expect(count("counters")).toBe(11);
  });

  test("AP-61 a report carries 20 peers at most, and all of 50 come within three reports", () => {
    const { reporter, advance, sent } = start(50);
    reporter.connected();
    advance(40_000);

    const reports = sent.flatMap((frame) => (frame.kind === "counters" ? [frame.counters.peers.peerIds] : []));

    expect(Math.max(...reports.map((ids) => ids.length))).toBe(20);
    expect(new Set(reports.slice(0, 3).flat()).size).toBe(50);
  });

  test("the status is told when it changes and at every new stream, not in between", () => {
    const { reporter, advance, count, setProblems } = start(1);
    reporter.connected();
    advance(60_000);
    expect(count("status")).toBe(1);

    setProblems(["filter: no"]);
    advance(10_000);
    expect(count("status")).toBe(2);

    reporter.connected();
    expect(count("status")).toBe(3);
  });

  test("AP-7 the skew is told when it is known or changed, what measuring it is off by is not", () => {
    const { reporter, sent, setSkew } = start(1);
    const told = (): unknown[] =>
      sent.flatMap((frame) => (frame.kind === "status" ? [[frame.status.clockSkewMs, frame.status.problems]] : []));
    reporter.connected();
    for (const skewMs of [900, 960, 1_040, 1_010, 3_600_000, 3_600_100, -40]) {
      setSkew(skewMs);
      reporter.checkStatus();
    }

    expect(told()).toEqual([
      [null, []],
      [900, []],
      [1_040, ["clock"]],
      [3_600_000, ["clock"]],
      [-40, []],
    ]);
  });

  test("a watch that asks for a flood is slowed", () => {
    const { reporter, advance, count } = start(1);
    reporter.connected();
    reporter.watch(1);
    advance(1_000);

    expect(count("counters")).toBeLessThanOrEqual(5);
  });
});

describe("the guard of the interface", () => {
  const link = (addresses: string[], up = true) => [{ name: "weft0", index: 9, mtu: 1420, up, addresses }];
  const all = ["10.77.0.1/32", "fd77::1/128"];
  function start() {
    const { timers, advance } = createVirtualTimers();
    let restored = 0;
    const guard = createInterfaceGuard({
      timers,
      wanted: () => ({ name: "weft0", addresses: ["10.77.0.1", "fd77::1"] }),
      restore: () => (restored += 1),
    });
    advance(60_000);
    return { guard, advance, restored: () => restored };
  }

  test("an interface as it should be is left alone, and so is one that somebody took down", () => {
    const { guard, restored } = start();
    guard.check(link(all));
    guard.check(link(["10.77.0.1/32"], false));
    guard.check([]);

    expect(restored()).toBe(0);
  });

  test("after being down, or when an address is missing, everything is set again", () => {
    const { guard, advance, restored } = start();
    guard.check(link(all, false));
    guard.check(link(all));
    expect(restored()).toBe(1);
    advance(10_000);
    guard.check(link(["10.77.0.1/32"]));
    expect(restored()).toBe(2);
    advance(10_000);
    guard.suspect();
    guard.check(link(all));
    expect(restored()).toBe(3);
    guard.check(link(all));
    expect(restored()).toBe(3);
  });

  test("what does not help is not tried all the time", () => {
    const { guard, advance, restored } = start();
    for (let second = 0; second < 60; second += 1) {
      guard.check(link([]));
      advance(1_000);
    }

    expect(restored()).toBeLessThanOrEqual(12);
  });
});

describe("local requests", () => {
  test("a peer is found by name in any case, by id, by either address", () => {
    const map = aNetworkMap(3);
    const peer = aPeer(2);

    for (const text of ["peer-2", "PEER-2", peer.id]) expect(findPeer(map, text)).toEqual({ peer, target: peer.ipv4 });
    expect(findPeer(map, "10.77.0.3")).toEqual({ peer, target: "10.77.0.3" });
    expect(findPeer(map, "FD77:0:0::3")).toEqual({ peer, target: "fd77::3" });
    expect(findPeer(map, "10.77.0.99")).toBeNull();
    expect(findPeer(map, aPublicKey(2))).toBeNull();
    expect(findPeer({ ...map, peers: [aPeer(1, { ipv4: null })] }, "peer-1")?.target).toBe("fd77::2");
  });

  test.each([
    '{"method":"waitReady","timeoutMs":-1}',
    '{"method":"waitReady"}',
    '{"method":"ping","peer":"x","count":0,"intervalMs":100,"timeoutMs":100}',
    '{"method":["stop"]}',
    "null",
    "[]",
    "7",
    "",
  ])("%s is no request", (line) => {
    expect(parseLocalRequest(line)).toBeNull();
  });
});
