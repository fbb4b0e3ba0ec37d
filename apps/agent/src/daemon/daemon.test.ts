import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createConnection } from "node:net";
import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { TunnelPeer } from "@weft/dataplane";
import {
  applyDelta,
  jobIds,
  ok,
  parseIp,
  parseJoinKey,
  type AgentFrame,
  type LinkProfile,
  type MapDelta,
} from "@weft/protocol";
import { aNetworkMap, aPeer, countingRandom, mustBe } from "@weft/protocol/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { createLog } from "./log.ts";
import { askDaemon } from "../cli/daemon-client.ts";
import { createStateStore, type StateStore } from "../state/state-store.ts";
import { connectWebSocket } from "../stream/connection.ts";
import { enrol } from "../stream/enrol.ts";
import { systemTimers } from "../stream/timers.ts";
import { startControlPlane, type AgentStream, type TestControlPlane } from "../testing/control-plane.ts";
import { aLog, aStateDirectory, eventually } from "../testing/fixtures.ts";
import { createMemorySystem, type MemorySystem } from "../testing/memory-system.ts";
import { startDaemon, type Daemon } from "./daemon.ts";
import { parseLocalRequest } from "./local-protocol.ts";
import { readHostFacts } from "../os/host-facts.ts";

let plane: TestControlPlane;
let state: ReturnType<typeof aStateDirectory>;
let store: StateStore;
let system: MemorySystem;
let log: ReturnType<typeof aLog>;
const running: Daemon[] = [];
const random = (length: number): Uint8Array => Uint8Array.from(randomBytes(length));

beforeEach(async () => {
  plane = await startControlPlane();
  state = aStateDirectory();
  store = createStateStore(state.paths);
  system = createMemorySystem();
  log = aLog();
});
afterEach(async () => {
  for (const daemon of running.splice(0)) await daemon.stop("test over");
  await plane.stop();
  state.remove();
});

async function join(): Promise<void> {
  const identity = mustBe(store.ensureIdentity());
  const request = {
    address: { kind: "network", webSocketOrigin: plane.url.replace("http", "ws") } as const,
    joinKey: mustBe(parseJoinKey(plane.joinKey)),
    identity,
    wantedName: "",
    host: readHostFacts(),
  };
  const enrolled = mustBe(await enrol({ connect: connectWebSocket, timers: systemTimers(), random }, request));
  mustBe(
    store.saveMembership({
      serverUrl: plane.url,
      serverKey: plane.identity.serverKey,
      peerId: enrolled.peerId,
      interfaceName: "weft0",
      listenPort: 51_820,
    }),
  );
  await eventually("the enrolment stream is over", () => plane.streams.length === 0);
}

/** Chance near zero makes every back-off short. */
async function run(aheadMs = 0): Promise<Daemon> {
  const started = await startDaemon({
    timers: systemTimers(),
    wallClockMs: () => Date.now() + aheadMs,
    random,
    chance: () => 0.05,
    connect: connectWebSocket,
    system,
    store,
    log: log.log,
    tuning: {},
    conceal: null,
    cipher: { offered: "chacha20-poly1305", reason: "a test" },
    mtuPolicy: {},
    metricsPort: null,
    forbiddenJobs: new Set(),
    settingsTrialMs: 60_000,
    host: readHostFacts(),
  });
  const daemon = mustBe(started);
  running.push(daemon);
  return daemon;
}

async function joinAndRun(): Promise<{ daemon: Daemon; stream: () => AgentStream }> {
  await join();
  const daemon = await run();
  expect((await daemon.ready).ok).toBe(true);
  await eventually("the stream is there", () => plane.streams.length === 1);
  return { daemon, stream: () => plane.streams[0]! };
}

/** A socket whose listener was killed: the file is there, nobody accepts. */
function leaveSocketBehind(path: string): void {
  const script =
    "require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))";
  expect(spawnSync(process.execPath, ["-e", script, path]).signal).toBe("SIGKILL");
  expect(existsSync(path)).toBe(true);
}

/** Every list of peers that tunnels made from now on are given. */
function notePeers(memory: MemorySystem): (readonly TunnelPeer[])[] {
  const given: (readonly TunnelPeer[])[] = [];
  system = {
    ...memory,
    createTunnel(options) {
      const made = memory.createTunnel(options);
      if (!made.ok) return made;
      const { replacePeers } = made.value;
      return ok({ ...made.value, replacePeers: (peers) => (given.push(peers), replacePeers(peers)) });
    },
  };
  return given;
}

const framesOf = <K extends AgentFrame["kind"]>(stream: AgentStream, kind: K) =>
  stream.frames.filter((frame): frame is Extract<AgentFrame, { kind: K }> => frame.kind === kind);
const peerCount = (): number | undefined => system.made.at(-1)?.inner.tunnel.peers().length;
const change = (delta: MapDelta, before = aNetworkMap(2)): void => plane.change(delta, applyDelta(before, delta));

describe("clocks", () => {
  test.each([
    ["a year behind", -365 * 86_400_000],
    ["hours ahead", 30 * 3_600_000],
  ])("AP-7 an agent whose clock is %s joins, applies, comes back, does its jobs, and says so", async (_, aheadMs) => {
    await join();
    const daemon = await run(aheadMs);
    expect((await daemon.ready).ok).toBe(true);
    await eventually("the stream", () => plane.streams.length === 1);
    const stream = plane.streams[0]!;
    await eventually("the skew is told", () =>
      framesOf(stream, "status").some(({ status }) => Math.abs((status.clockSkewMs ?? 0) - aheadMs) < 1_000),
    );
    expect(framesOf(stream, "status").at(-1)?.status.problems.join()).toContain("clock: this host is");
    const shown = mustBe(await askDaemon(state.paths.socket, { method: "status" }).answer);
    expect(shown).toMatchObject({ problems: [expect.stringContaining("clock: this host is")] });

    change({ upserts: [aPeer(7)], removals: [] });
    await eventually(
      "the change is applied",
      () => framesOf(stream, "applied").at(-1)?.sequence === plane.version().sequence,
    );
    expect(framesOf(stream, "applied").flatMap(({ errors }) => errors)).toEqual([]);
    const jobId = jobIds.make(random);
    stream.send({ kind: "job", jobId, timeLimitMs: 5_000, work: { kind: "debugBundle", addresses: "keep" } });
    await eventually("the job is done", () => framesOf(stream, "jobResult").length === 1);
    expect(framesOf(stream, "jobResult")[0]?.outcome.kind).toBe("report");

    stream.drop();
    await eventually("it is back", () => plane.streams.length === 1 && plane.streams[0] !== stream);
    expect(plane.streams[0]?.hello.lastMap).toEqual(plane.version());
    const age = framesOf(plane.streams[0]!, "counters").at(-1)?.counters.uptimeMs ?? 0;
    expect(age).toBeLessThan(60_000);
  });
});

test("SEC-2 a peer key that the server adds or changes is logged once at the default level and listed, so that none is silent", async () => {
  const lines: string[] = [];
  log = { ...log, log: createLog((line) => void lines.push(line), Date.now, "info") };
  const { stream } = await joinAndRun();
  const keysLogged = (): string[] =>
    lines
      .map((line) => JSON.parse(line) as { event: string; keys?: string[] })
      .flatMap(({ event, keys = [] }) => (event === "peer_keys_added" ? keys : []));
  const first = aNetworkMap(2).peers.map((peer) => `${peer.name} ${peer.publicKey}`);
  await eventually("the first keys", () => keysLogged().length === first.length);
  expect(keysLogged()).toEqual(first);

  const [added, known] = [aPeer(7), aNetworkMap(2).peers[0]!];
  change({ upserts: [added], removals: [] });
  const changed = { ...known, publicKey: aPeer(8).publicKey };
  change({ upserts: [changed], removals: [] }, applyDelta(aNetworkMap(2), { upserts: [added], removals: [] }));
  // One that is only renamed brings no key.
  const renamed = { ...added, name: "renamed" };
  const after = applyDelta(aNetworkMap(2), { upserts: [added, changed], removals: [] });
  change({ upserts: [renamed], removals: [] }, after);
  await eventually(
    "all of it applied",
    () => framesOf(stream(), "applied").at(-1)?.sequence === plane.version().sequence,
  );

  expect(keysLogged().slice(first.length)).toEqual([
    `${added.name} ${added.publicKey}`,
    `${known.name} ${changed.publicKey}`,
  ]);
  const shown = mustBe(await askDaemon(state.paths.socket, { method: "status" }).answer);
  const listed = JSON.stringify(shown);
  for (const key of [added.publicKey, changed.publicKey]) expect(listed).toContain(key);
  expect(listed).not.toContain(known.publicKey);
});

describe("joining", () => {
  test("SEC-1 the enrolment key reaches the server sealed; the private keys reach nobody", async () => {
    await join();
    const identity = mustBe(store.loadIdentity());
    const daemon = await run();
    await daemon.ready;
    await eventually("a stream", () => plane.streams.length === 1);

    const { hello } = plane.streams[0]!;
    expect(hello.identityKey).toBe(identity.identityKey);
    expect(hello.enrolmentBox).toBeNull();
    expect(readFileSync(state.paths.membership, "utf8")).not.toContain("weft_enr");
  });

  test("ND-19 AP-85 without a join line the daemon does not start", async () => {
    const started = await startDaemon({
      timers: systemTimers(),
      wallClockMs: Date.now,
      random,
      chance: Math.random,
      connect: connectWebSocket,
      system,
      store,
      log: log.log,
      tuning: {},
      conceal: null,
      cipher: { offered: "chacha20-poly1305", reason: "a test" },
      mtuPolicy: {},
      metricsPort: null,
      forbiddenJobs: new Set(),
      settingsTrialMs: 60_000,
      host: readHostFacts(),
    });

    expect(started).toMatchObject({ ok: false, error: { code: "not_joined" } });
    expect(system.made).toHaveLength(0);
  });
});

describe("the map", () => {
  test("AP-20 the first map makes the tunnel, and applied is confirmed with version and duration", async () => {
    const { stream } = await joinAndRun();

    await eventually("applied", () => framesOf(stream(), "applied").length === 1);

    expect(framesOf(stream(), "applied")[0]).toMatchObject({ ...plane.version(), errors: [] });
    expect(peerCount()).toBe(2);
  });

  test("AP-21 changes arrive; a gap makes the agent ask and converge", async () => {
    const { stream } = await joinAndRun();
    change({ upserts: [aPeer(3)], removals: [] });
    await eventually("three peers", () => peerCount() === 3);

    plane.setMap(aNetworkMap(6));
    change({ upserts: [aPeer(7)], removals: [] }, aNetworkMap(6));

    await eventually("seven peers", () => peerCount() === 7);
    expect(framesOf(stream(), "needMap")).toMatchObject([{ reason: "gap" }]);
  });

  test("AP-21 a new epoch after a restore is taken over", async () => {
    const { stream } = await joinAndRun();
    plane.newEpoch();
    plane.setMap(aNetworkMap(1));

    stream().drop();

    await eventually("the restored map", () => peerCount() === 1);
  });

  test("CP-22 F-G12 D6 AP-48 the mesh comes up from disk with the server off, and AP-50 finds it again", async () => {
    const { daemon } = await joinAndRun();
    change({ upserts: [aPeer(3)], removals: [] });
    await eventually("three peers", () => peerCount() === 3);
    await daemon.stop("reboot");
    await plane.stop();
    await eventually("no stream", () => plane.streams.length === 0);

    const again = await run();

    expect((await again.ready).ok).toBe(true);
    expect(system.made).toHaveLength(2);
    expect(peerCount()).toBe(3);
    await plane.start();
    await eventually("connected", () => plane.streams.length === 1);
    expect(plane.streams[0]?.hello.lastMap).toEqual(plane.version());
    await eventually("status", () => framesOf(plane.streams[0]!, "status").length === 1);
    expect(framesOf(plane.streams[0]!, "applied")).toEqual([]);
  });

  test("a killed agent knows the link profile before the present one, with the server off", async () => {
    const { daemon } = await joinAndRun();
    const profile: LinkProfile = { revision: 1, cipher: "aes-256-gcm", elision: "on", lanes: 1 };
    const bytesBefore = statSync(state.paths.map).size;
    change({ upserts: [aPeer(1, { profile })], removals: [] });
    await eventually("stored", () => statSync(state.paths.map).size > bytesBefore);
    const killed = aStateDirectory();
    for (const name of ["identity", "membership", "map", "profiles"] as const)
      copyFileSync(state.paths[name], killed.paths[name]);
    await daemon.stop("the copy goes on");
    await plane.stop();
    const given = notePeers(system);
    store = createStateStore(killed.paths);

    const again = await run();

    expect((await again.ready).ok).toBe(true);
    expect(given.at(-1)).toMatchObject([{ profile, profileBefore: "plain" }, { publicKey: aPeer(2).publicKey }]);
    expect(given.at(-1)?.[1]).not.toHaveProperty("profileBefore");

    system.emit({ kind: "profile-settled", publicKey: aPeer(1).publicKey, profile });
    await eventually("forgotten", () => !existsSync(killed.paths.profiles));
    await again.stop("over");
    running.splice(0);
    killed.remove();
  });

  test("a damaged stored map is reported and replaced from the server", async () => {
    const { daemon } = await joinAndRun();
    await daemon.stop("reboot");
    writeFileSync(state.paths.map, "garbage");

    const again = await run();

    expect((await again.ready).ok).toBe(true);
    expect(log.events()).toContain("map_not_loaded");
    expect(peerCount()).toBe(2);
  });
});

describe("losing the server", () => {
  test("CP-21 AP-47 a killed server touches neither tunnel nor peers; the agent is back after it", async () => {
    const { daemon } = await joinAndRun();
    await plane.stop();
    await eventually("lost", () => daemon.status().server.state !== "connected");

    expect(system.made).toHaveLength(1);
    expect(system.made[0]?.closed).toBe(false);
    expect(peerCount()).toBe(2);
    await plane.start();
    await eventually("back", () => daemon.status().server.state === "connected");
    expect(system.made).toHaveLength(1);
  });

  test("AP-43 an HTTP refusal with Retry-After is obeyed", async () => {
    const { daemon, stream } = await joinAndRun();
    plane.faults = { httpStatus: { status: 503, retryAfterSeconds: 30 } };

    stream().drop();

    await eventually("refused", () => daemon.status().server.reason?.includes("503") ?? false);
    expect(daemon.status().server.retryInMs).toBeGreaterThan(25_000);
  });

  test("AP-3 a server that cannot prove its key gets no hello, and the tunnel stays", async () => {
    const { daemon, stream } = await joinAndRun();
    plane.faults = { challengeSignature: "forged" };

    stream().drop();

    await eventually("noticed", () => daemon.status().server.reason?.includes("could not prove") ?? false);
    expect(plane.streams).toHaveLength(0);
    expect(peerCount()).toBe(2);
  });

  test("AP-8 a server that is too new is named", async () => {
    const { daemon, stream } = await joinAndRun();
    plane.faults = { protocol: { min: 5, max: 6 } };

    stream().drop();

    await eventually("noticed", () => daemon.status().server.reason?.includes("too old") ?? false);
  });

  test("AP-5 an unknown frame is answered with unsupported and the stream goes on", async () => {
    const { stream } = await joinAndRun();
    const raw = Uint8Array.of(0xc2, 0x02, 0x01, 0x00);

    stream().sendRaw(raw);

    await eventually("unsupported", () => framesOf(stream(), "unsupported").length === 1);
    expect(framesOf(stream(), "unsupported")[0]).toEqual({ kind: "unsupported", frameNumber: 40 });
    change({ upserts: [aPeer(3)], removals: [] });
    await eventually("three peers", () => peerCount() === 3);
  });

  test("garbage ends the stream, not the agent", async () => {
    const { stream } = await joinAndRun();

    stream().sendRaw(Uint8Array.of(0xff, 0xff, 0xff));

    await eventually("back", () => log.events().filter((event) => event === "control_connected").length === 2);
    expect(peerCount()).toBe(2);
  });
});

describe("the end of a membership", () => {
  test("AP-46 removal closes the tunnel, keeps the identity, and the host can join again as the same node", async () => {
    const { daemon, stream } = await joinAndRun();
    const before = mustBe(store.loadIdentity()).identityKey;

    stream().send({ kind: "bye", reason: "removed", detail: "none", message: "", retryAfterMs: 0 });

    await eventually("closed", () => system.made[0]?.closed === true);
    expect(existsSync(state.paths.membership)).toBe(false);
    expect(existsSync(state.paths.map)).toBe(false);
    expect(daemon.status().server).toMatchObject({ state: "ended", reason: "this node was removed from its network" });
    await daemon.stop("again");
    await join();
    expect(mustBe(store.loadIdentity()).identityKey).toBe(before);
  });

  test("AP-46 expiry closes the tunnel and forgets the map; the agent shows it and comes back by itself", async () => {
    const { daemon, stream } = await joinAndRun();
    const goodbye = { reason: "expired", detail: "none", message: "membership over", retryAfterMs: 0 } as const;
    plane.faults = { refuse: { kind: "bye", ...goodbye } };

    stream().send({ kind: "bye", ...goodbye });

    await eventually("closed", () => system.made[0]?.closed === true);
    expect(existsSync(state.paths.map)).toBe(false);
    expect(existsSync(state.paths.membership)).toBe(true);
    expect(daemon.status()).toMatchObject({
      server: { state: "waiting", reason: "membership over" },
      interface: null,
      map: null,
      peers: [],
    });
    await daemon.stop("a restart of the host");
    running.splice(0);
    const restarted = await run();
    await eventually("refused", () => restarted.status().server.reason === "membership over");
    expect(system.made).toHaveLength(1);

    plane.faults = {};
    await restarted.stop("so that it need not wait");
    running.splice(0);
    const back = await run();
    expect((await back.ready).ok).toBe(true);
    expect(peerCount()).toBe(2);
  });

  test("leave tells the server and wipes everything", async () => {
    const { daemon, stream } = await joinAndRun();
    const { frames } = stream();

    const answer = await askDaemon(state.paths.socket, { method: "leave" }).answer;
    await daemon.stopped;

    expect(answer).toEqual({ ok: true, value: { left: true } });
    expect(frames.some((frame) => frame.kind === "leave")).toBe(true);
    expect(existsSync(state.paths.identity) || existsSync(state.paths.map) || existsSync(state.paths.membership)).toBe(
      false,
    );
  });

  test("leave without a server is refused and changes nothing", async () => {
    const { daemon } = await joinAndRun();
    await plane.stop();
    await eventually("lost", () => daemon.status().server.state !== "connected");

    expect(await askDaemon(state.paths.socket, { method: "leave" }).answer).toMatchObject({
      ok: false,
      error: { code: "not_connected" },
    });
    expect(existsSync(state.paths.identity)).toBe(true);
  });
});

describe("reports and jobs", () => {
  test("AP-61 status and counters come at once; watching makes them come every second", async () => {
    const { stream } = await joinAndRun();
    await eventually("first report", () => framesOf(stream(), "counters").length === 1);
    expect(framesOf(stream(), "status")[0]?.status).toMatchObject({
      listenPort: expect.any(Number),
      endpoints: [expect.stringMatching(/^192\.0\.2\.7:/)],
    });

    stream().send({ kind: "watch", intervalMs: 500 });

    await eventually("four reports", () => framesOf(stream(), "counters").length >= 4, 4_000);
    const reports = framesOf(stream(), "counters").map((frame) => frame.counters);
    expect(new Set(reports.map((report) => report.counterEpoch)).size).toBe(1);
    expect(reports[0]?.peers.peerIds).toHaveLength(2);
    expect(reports.at(-1)!.uptimeMs).toBeGreaterThan(reports[0]!.uptimeMs);
  });

  test("ND-5 new addresses of the host are told within seconds", async () => {
    const { stream } = await joinAndRun();
    await eventually("first status", () => framesOf(stream(), "status").length === 1);

    system.hostInterfaces = [
      { name: "wlan0", index: 3, mtu: 1500, up: true, addresses: ["198.51.100.9/24", "127.0.0.1/8"] },
    ];

    await eventually(
      "second status",
      () =>
        framesOf(plane.streams[0]!, "status").some(
          (frame) => frame.status.endpoints[0]?.startsWith("198.51.100.9:") ?? false,
        ),
      6_000,
    );
  });

  test("a ping job runs against peers only", async () => {
    const { stream } = await joinAndRun();
    const job = (target: string) =>
      ({
        kind: "job",
        jobId: jobIds.make(countingRandom(target.length)),
        timeLimitMs: 3_000,
        work: { kind: "ping", target: mustBe(parseIp(target)), count: 2 },
      }) as const;

    stream().send(job("10.77.0.2"));
    stream().send(job("192.0.2.99"));

    await eventually("both results", () => framesOf(stream(), "jobResult").length === 2);
    const outcomes = framesOf(stream(), "jobResult").map((frame) => frame.outcome);
    expect(outcomes).toContainEqual({
      kind: "ping",
      sent: 2,
      received: 2,
      rttMicroseconds: [1234, 1234],
      endpoint: null,
    });
    expect(outcomes).toContainEqual({ kind: "failed", message: "192.0.2.99 is no peer of this node" });
  });
});

describe("the local socket", () => {
  test("SEC-17 only the owner may connect", async () => {
    await joinAndRun();

    expect(statSync(state.paths.socket).mode & 0o777).toBe(0o600);
    expect(statSync(state.paths.directory).mode & 0o777).toBe(0o700);
  });

  test("status names addresses, server, peers", async () => {
    await joinAndRun();

    expect(await askDaemon(state.paths.socket, { method: "status" }).answer).toMatchObject({
      ok: true,
      value: {
        ipv4: "10.77.0.1",
        ipv6: "fd77::1",
        network: "test network",
        listenPort: expect.any(Number),
        server: { state: "connected" },
        peers: [{ name: "peer-1", ipv4: "10.77.0.2" }, { name: "peer-2" }],
      },
    });
  });

  test("ping finds a peer by name and by address and reports every reply", async () => {
    await joinAndRun();
    const events: unknown[] = [];
    const request = { method: "ping", peer: "peer-2", count: 2, intervalMs: 10, timeoutMs: 100 } as const;

    const answer = await askDaemon(state.paths.socket, request, (event) => void events.push(event)).answer;

    expect(answer).toMatchObject({ ok: true, value: { peer: "peer-2", target: "10.77.0.3", sent: 2, received: 2 } });
    expect(events).toHaveLength(3);
    expect(await askDaemon(state.paths.socket, { ...request, peer: "fd77::3" }).answer).toMatchObject({
      ok: true,
      value: { received: 0 },
    });
    expect(await askDaemon(state.paths.socket, { ...request, peer: "nobody" }).answer).toMatchObject({
      ok: false,
      error: { code: "unknown_peer" },
    });
  });

  test.each([
    { name: "no JSON", text: "hello\n" },
    { name: "an unknown method", text: '{"method":"format"}\n' },
    { name: "a wrong argument", text: '{"method":"ping","peer":7}\n' },
    { name: "a line without end", text: "x".repeat(40_000) },
  ])("$name is refused and the daemon goes on", async ({ text }) => {
    await joinAndRun();

    const answer = await new Promise<string>((resolve) => {
      let received = "";
      const socket = createConnection(state.paths.socket, () => socket.write(text));
      socket.on("data", (data) => (received += data.toString()));
      socket.on("close", () => resolve(received));
      socket.on("error", () => {});
    });

    expect(answer === "" || answer.includes("bad_request")).toBe(true);
    expect((await askDaemon(state.paths.socket, { method: "status" }).answer).ok).toBe(true);
  });
});

describe("start and stop", () => {
  test("stopping closes tunnel, stream, socket and lock", async () => {
    const { daemon, stream } = await joinAndRun();
    const { frames } = stream();

    await daemon.stop("over");

    expect(system.made[0]?.closed).toBe(true);
    expect(existsSync(state.paths.socket) || existsSync(state.paths.lock) || existsSync(state.paths.runtime)).toBe(
      false,
    );
    await eventually("bye", () => frames.some((frame) => frame.kind === "bye" && frame.reason === "agent_stopping"));
  });

  test("a second daemon on the same state is refused and harms nothing", async () => {
    await joinAndRun();

    const second = await startDaemon({
      timers: systemTimers(),
      wallClockMs: Date.now,
      random,
      chance: Math.random,
      connect: connectWebSocket,
      system,
      store,
      log: log.log,
      tuning: {},
      conceal: null,
      cipher: { offered: "chacha20-poly1305", reason: "a test" },
      mtuPolicy: {},
      metricsPort: null,
      forbiddenJobs: new Set(),
      settingsTrialMs: 60_000,
      host: readHostFacts(),
    });

    expect(second).toMatchObject({ ok: false, error: { code: "held" } });
    expect((await askDaemon(state.paths.socket, { method: "status" }).answer).ok).toBe(true);
    expect(system.removedInterfaces).toEqual([]);
  });

  test("a daemon that runs where its process cannot be seen keeps lock and socket", async () => {
    await join();
    await run();
    const lock = "4194305 1\n"; // No process has such a number here.
    writeFileSync(state.paths.lock, lock);

    await expect(run()).rejects.toThrow("cannot be seen from here");

    expect(readFileSync(state.paths.lock, "utf8")).toBe(lock);
    expect((await askDaemon(state.paths.socket, { method: "status" }).answer).ok).toBe(true);
    expect(system.removedInterfaces).toEqual([]);
  });

  test("a socket that a killed daemon left behind keeps nobody from starting", async () => {
    await join();
    leaveSocketBehind(state.paths.socket);

    await run();

    expect((await askDaemon(state.paths.socket, { method: "status" }).answer).ok).toBe(true);
  });

  test("what a killed daemon left behind is removed at the next start", async () => {
    await join();
    mustBe(store.saveTraces({ interfaceName: "weft7" }));

    await run();

    expect(system.removedInterfaces).toEqual(["weft7"]);
  });

  test("a busy port is evaded and reported", async () => {
    await join();
    system.failNext.error = { code: "port_in_use", message: "busy", port: 51_820 };
    system.failNext.times = 2;

    await (
      await run()
    ).ready;

    expect(system.made[0]?.options.listenPort).toBe(51_822);
    expect(log.events()).toContain("port_taken");
  });

  test("a tunnel that may not be made ends the wait with the reason", async () => {
    await join();
    system.failNext.error = { code: "tun_permission", message: "needs CAP_NET_ADMIN" };
    system.failNext.times = 100;

    expect(await (await run()).ready).toMatchObject({
      ok: false,
      error: { code: "tunnel_failed", message: "needs CAP_NET_ADMIN" },
    });
  });

  test("a fatal fault of the engine makes the tunnel anew with all peers", async () => {
    await joinAndRun();

    system.emit({ kind: "fault", fault: { operation: "tun-read", severity: "fatal", errno: 77 } });

    expect(system.made.map((record) => record.closed)).toEqual([true, false]);
    expect(peerCount()).toBe(2);
  });

  test("a worker that panics is told to the server, counted, and its engine started again under a new counter epoch", async () => {
    const { daemon, stream } = await joinAndRun();
    await eventually("first report", () => framesOf(stream(), "counters").length > 0);

    system.emit({ kind: "engine-failed", shard: 1, message: "src/x.rs:7: out of bounds" });

    expect(system.made.map((record) => record.closed)).toEqual([true, false]);
    expect(daemon.status().engine).toMatchObject({
      restarts: 1,
      lastFailure: { reason: "worker 1: src/x.rs:7: out of bounds" },
    });
    await eventually("the server knows", () =>
      framesOf(stream(), "status").some(({ status }) => status.problems.some((line) => line.includes("out of bounds"))),
    );
    stream().send({ kind: "watch", intervalMs: 500 });
    await eventually(
      "a new epoch",
      () => new Set(framesOf(stream(), "counters").map(({ counters }) => counters.counterEpoch)).size === 2,
    );
  });

  test("an engine that cannot start again at once is tried until it does", async () => {
    await joinAndRun();
    system.failNext.error = { code: "tun_busy", message: "taken" };
    system.failNext.times = 2;

    system.emit({ kind: "engine-failed", shard: 0, message: "oh" });

    await eventually("up again", () => system.made.length === 2);
    expect(peerCount()).toBe(2);
  });

  test("a profile is started and stopped over the local socket; a second start is refused", async () => {
    await joinAndRun();
    const ask = (request: Parameters<typeof askDaemon>[1]) => askDaemon(state.paths.socket, request).answer;

    const started = await ask({ method: "profileStart", frequencyHz: 99 });
    const again = await ask({ method: "profileStart", frequencyHz: 99 });
    const stopped = await ask({ method: "profileStop", format: "folded" });

    expect(started.ok).toBe(true);
    expect(again).toMatchObject({ ok: false, error: { code: "profile_busy" } });
    expect(stopped).toMatchObject({
      ok: true,
      value: { method: "user", reason: "in memory", data: "weft-shard-0;run;seal 7\njavascript;tick 2\n" },
    });
  });

  test.each([
    { method: "profileRun", seconds: 121, frequencyHz: 99, format: "folded" },
    { method: "profileRun", seconds: 1, frequencyHz: 1_000, format: "folded" },
    { method: "profileStop", format: "svg" },
    { method: "profileStart" },
    { method: "injectPanic", shard: 64 },
  ])("a request beyond its bounds is no request: %o", (request) => {
    expect(parseLocalRequest(JSON.stringify(request))).toBeNull();
  });

  test("a fault asked for over the local socket reaches the engine", async () => {
    await joinAndRun();

    const asked = await askDaemon(state.paths.socket, { method: "injectPanic", shard: 0 }).answer;

    expect(asked.ok).toBe(true);
    system.advance(1);
    expect(system.made.at(-1)?.inner.events).toContainEqual(expect.objectContaining({ kind: "engine-failed" }));
  });
});
