import {
  applyDelta,
  BYE_REASONS,
  decodeAgentFrame,
  decodeServerFrame,
  encodeServerFrame,
  isRecord,
  keyBytes,
  parseJoinKey,
  Secret,
  type ServerFrame,
  type ServerKey,
} from "@weft/protocol";
import { aNetworkMap, aPeer, countingRandom, mustBe, nobleCrypto } from "@weft/protocol/testing";
import { afterEach, describe, expect, test, vi } from "vitest";

import { createControlClient } from "../daemon/control-client.ts";
import { readHostFacts } from "../os/host-facts.ts";
import { parseServerUrl } from "../settings/server-url.ts";
import { makeIdentity } from "../state/identity.ts";
import { attacked } from "../testing/attacker.ts";
import { startControlPlane } from "../testing/control-plane.ts";
import { aLog, eventually } from "../testing/fixtures.ts";
import { createVirtualTimers } from "../testing/memory-system.ts";
import { createScriptedServer } from "../testing/scripted-server.ts";
import { createServerSide } from "../testing/server-side.ts";
import { aServerIdentity } from "../testing/signing.ts";
import { connectWebSocket } from "./connection.ts";
import { enrol } from "./enrol.ts";
import { leaveNetwork } from "./leave.ts";
import { openStream, type StreamEnd } from "./open-stream.ts";
import { systemTimers } from "./timers.ts";

type Attack = Parameters<typeof attacked>[1];
type Bye = Extract<ServerFrame, { kind: "bye" }>;

const identity = makeIdentity();
const host = {
  bootId: 1n,
  counterEpoch: 2n,
  hostname: "h",
  os: "linux",
  arch: "x64",
};
const facts = { ...host, agentVersion: "1", lastMap: null, wantedName: "", capabilities: [] };
const forgedBye = (reason: Bye["reason"], changes: Partial<Bye> = {}): Uint8Array =>
  encodeServerFrame({ kind: "bye", reason, detail: "none", message: "run this", retryAfterMs: 0, ...changes });
const flush = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};
const flip = (message: Uint8Array): Uint8Array =>
  message.map((byte, at) => (at === message.length >> 1 ? byte ^ 1 : byte));

/** A control client with somebody between it and its server; the attack stops when `calm` is called. */
async function underAttack(attack: Attack) {
  const { timers, advance } = createVirtualTimers();
  const server = createScriptedServer();
  const log = aLog();
  const frames: ServerFrame[] = [];
  const verdicts: string[] = [];
  let current: Attack = attack;
  const { connect } = attacked(server.connect, {
    toAgent: (message, index) => current.toAgent?.(message, index) ?? [message],
    toServer: (message, index) => current.toServer?.(message, index) ?? [message],
  });
  const client = createControlClient(
    {
      connect,
      timers,
      random: countingRandom(3),
      chance: () => 0.5,
      log: log.log,
      request: () => ({
        address: { kind: "socket", path: "/x" },
        serverKey: server.identity.serverKey,
        identity,
        facts,
        enrolmentKey: null,
      }),
    },
    {
      onAnswer: () => {},
      onServerClock: () => {},
      onConnected: () => {},
      onFrame: (frame) => void frames.push(frame),
      onDisconnected: (verdict) =>
        void verdicts.push(`${verdict.kind} ${"standing" in verdict ? verdict.standing : ""}`),
    },
  );
  client.start();
  await flush();
  return {
    client,
    server,
    frames,
    verdicts,
    calm: () => void (current = {}),
    async pass(ms: number): Promise<void> {
      for (let left = ms; left > 0; left -= 500) {
        advance(Math.min(500, left));
        await flush();
      }
    },
  };
}

/** How a stream ends when the messages of the server are changed on the way. */
async function endOf(attack: Attack, expected: { readonly pin?: ServerKey } = {}): Promise<StreamEnd | "open"> {
  const server = createScriptedServer();
  const { timers } = createVirtualTimers();
  const { connect } = attacked(server.connect, attack);
  return new Promise((resolve) => {
    openStream(
      { connect, timers, random: countingRandom(3) },
      {
        address: { kind: "socket", path: "/x" },
        serverKey: expected.pin ?? server.identity.serverKey,
        identity,
        facts,
        enrolmentKey: new Secret("weft_enr_x"),
      },
      { onOpen: () => resolve("open"), onFrame: () => {}, onEnd: resolve },
    );
  });
}

describe("the handshake under attack", () => {
  test("AP-3 a challenge recorded on another connection is refused", async () => {
    const old = createServerSide({
      identity: aServerIdentity(),
      agentNonce: new Uint8Array(32),
      random: countingRandom(1),
    });
    const replay: Attack = {
      toAgent: (message, index) => [index === 0 ? encodeServerFrame(old.challengeFrame) : message],
    };

    expect(await endOf(replay)).toMatchObject({ code: "wrong_server" });
  });

  test("AP-3 another server that proves its own key gets no hello", async () => {
    const sent: Uint8Array[] = [];
    const listen: Attack = {
      toServer: (message) => {
        sent.push(message);
        return [message];
      },
    };

    expect(await endOf(listen, { pin: aServerIdentity(66).serverKey })).toMatchObject({ code: "wrong_server" });
    expect(sent).toEqual([]);
  });

  test("SEC-3 an ephemeral key that the server did not sign is refused", async () => {
    const mine = nobleCrypto.exchangeKeyFrom(countingRandom(9)(32)).publicKey;
    for (const exchangeKey of [mine, new Uint8Array(32)]) {
      const swap: Attack = {
        toAgent: (message) => {
          const challenge = mustBe(decodeServerFrame(message));
          return [challenge.kind === "challenge" ? encodeServerFrame({ ...challenge, exchangeKey }) : message];
        },
      };

      expect(await endOf(swap)).toMatchObject({ code: "wrong_server" });
    }
  });

  test("SEC-3 a hello proves nothing to another server, and its enrolment key does not open there", async () => {
    const hellos: Uint8Array[] = [];
    const listen: Attack = {
      toServer: (message, index) => {
        if (index === 0) hellos.push(message);
        return [message];
      },
    };
    expect(await endOf(listen)).toBe("open");
    const hello = mustBe(decodeAgentFrame(hellos[0]!));
    const other = createServerSide({
      identity: aServerIdentity(2),
      agentNonce: new Uint8Array(32),
      random: countingRandom(1),
    });

    expect(() => other.accept(hello as Extract<typeof hello, { kind: "hello" }>)).toThrow("signature is wrong");
  });

  test("SEC-3 a server's answer in the clear is a downgrade: no stream opens on it", async () => {
    const welcome = encodeServerFrame({
      kind: "welcome",
      peerId: aPeer(1).id,
      epoch: 1n,
      heartbeatMs: 15_000,
      mode: "resume",
      wallClockMs: null,
    });

    expect(await endOf({ toAgent: (message, index) => [index === 1 ? welcome : message] })).toMatchObject({
      code: "protocol",
    });
  });

  test.each([
    ["too old", "agent_too_old"],
    ["too new", "agent_too_new"],
  ] as const)("AP-8 that an agent is %s can be said before there are keys", async (words, detail) => {
    const refuse: Attack = {
      toAgent: (message, index) => [index === 1 ? forgedBye("incompatible", { detail }) : message],
    };

    expect(await endOf(refuse)).toEqual({ code: "version", message: expect.stringContaining(words) });
  });

  test("SEC-33 a refusal in the clear brings neither words nor details nor a long wait", async () => {
    const bye = forgedBye("overload", { detail: "unknown_node", retryAfterMs: 0xffff_ffff });

    expect(await endOf({ toAgent: () => [bye] })).toEqual({
      code: "refused",
      reason: "overload",
      detail: "none",
      message: "",
      retryAfterMs: 300_000,
    });
  });
});

describe("a farewell that somebody else writes", () => {
  const verdictReasons = BYE_REASONS.filter((reason) => !["restart", "overload", "incompatible"].includes(reason));

  test.each(verdictReasons)(
    "SEC-33 SEC-3 bye %s in the clear is ignored at any moment of the handshake",
    async (reason) => {
      for (const moment of [0, 1]) {
        const inject: Attack = {
          toAgent: (message, index) => (index === moment ? [forgedBye(reason), message] : [message]),
        };
        const { client, verdicts } = await underAttack(inject);

        expect(client.state().state).toBe("connected");
        expect(verdicts).toEqual([]);
      }
    },
  );

  test.each(BYE_REASONS)(
    "SEC-33 SEC-3 bye %s in the clear on an open stream is a broken connection, no verdict",
    async (reason) => {
      const { client, server, verdicts, pass } = await underAttack({});

      server.connections[0]?.sendRaw(forgedBye(reason));
      await flush();

      expect(verdicts).toEqual(["retry member"]);
      expect(client.state()).toMatchObject({ state: "waiting" });
      await pass(2_000);
      expect(client.state().state).toBe("connected");
    },
  );

  test("AP-46 the server's own bye is believed: it comes in a record", async () => {
    const { client, server } = await underAttack({});

    server.connections[0]?.send({ kind: "bye", reason: "removed", detail: "none", message: "gone", retryAfterMs: 0 });

    expect(client.state()).toEqual({ state: "ended", reason: "gone" });
  });

  test("SEC-33 a node that leaves does not take a stranger's word for it", async () => {
    for (const forged of [forgedBye("removed"), forgedBye("overload", { detail: "unknown_node" })]) {
      const server = createScriptedServer();
      const { timers, advance } = createVirtualTimers();
      const { connect } = attacked(server.connect, { toAgent: (_, index) => (index === 0 ? [forged] : []) });
      const left = leaveNetwork(
        { connect, timers, random: countingRandom(3) },
        {
          address: { kind: "socket", path: "/x" },
          serverKey: server.identity.serverKey,
          identity,
          host: readHostFacts(),
        },
      );
      await flush();
      advance(20_000);

      expect((await left).ok).toBe(false);
    }
  });
});

describe("records on the way", () => {
  const watches = [1000, 2000, 3000].map((intervalMs) => ({ kind: "watch" as const, intervalMs }));

  // Messages 0 and 1 are challenge and welcome.
  test.each<[string, Attack, number[]]>([
    ["changed", { toAgent: (message, index) => [index === 3 ? flip(message) : message] }, [1000]],
    ["repeated", { toAgent: (message, index) => (index === 2 ? [message, message] : [message]) }, [1000]],
    ["left out", { toAgent: (message, index) => (index === 3 ? [] : [message]) }, [1000]],
    ["cut short", { toAgent: (message, index) => [index === 3 ? message.subarray(0, 10) : message] }, [1000]],
    ["random bytes", { toAgent: (message, index) => [index === 3 ? countingRandom(1)(40) : message] }, [1000]],
  ])(
    "SEC-3 a record that is %s breaks the connection, says nothing, and the agent returns",
    async (_, attack, seen) => {
      const { client, server, frames, verdicts, calm, pass } = await underAttack(attack);

      for (const frame of watches) server.connections[0]?.send(frame);
      await flush();

      expect(frames.map((frame) => (frame.kind === "watch" ? frame.intervalMs : frame.kind))).toEqual(seen);
      expect(verdicts).toEqual(["retry member"]);
      expect(client.state()).toMatchObject({
        state: "waiting",
        reason: expect.stringMatching(/message \d+ of the server/),
      });
      calm();
      await pass(2_000);
      expect(client.state().state).toBe("connected");
    },
  );

  test("SEC-3 records that change places break the connection", async () => {
    let held: Uint8Array | null = null;
    const { server, frames, verdicts } = await underAttack({
      toAgent(message, index) {
        if (index === 2) held = message;
        if (index === 2) return [];
        return index === 3 && held ? [message, held] : [message];
      },
    });

    for (const frame of watches) server.connections[0]?.send(frame);
    await flush();

    expect(frames).toEqual([]);
    expect(verdicts).toEqual(["retry member"]);
  });

  test("AP-43 an attack that goes on is met ever more slowly", async () => {
    const { server, pass } = await underAttack({
      toAgent: (message, index) => [index === 1 ? flip(message) : message],
    });

    await pass(600_000);

    expect(server.connections.length).toBeLessThan(60);
  });
});

describe("what somebody on the way sees", () => {
  const closers: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });

  test("AP-4 SEC-3 neither the enrolment key nor anything of the map, over plain HTTP", async () => {
    const plane = await startControlPlane();
    closers.push(() => plane.stop());
    const { connect, recorded } = attacked(connectWebSocket, {});
    const deps = { connect, timers: systemTimers(), random: countingRandom(3) };
    const address = mustBe(parseServerUrl(plane.url));
    const joinKey = mustBe(parseJoinKey(plane.joinKey));
    mustBe(await enrol(deps, { address, joinKey, identity, wantedName: "", host: readHostFacts() }));
    const onFrame = vi.fn<(frame: ServerFrame) => void>();
    const close = openStream(
      deps,
      { address, serverKey: joinKey.serverKey, identity, facts, enrolmentKey: null },
      { onOpen: () => {}, onFrame, onEnd: () => {} },
    );
    closers.push(() => close("done"));
    await eventually("a map", () => onFrame.mock.calls.some(([frame]) => frame.kind === "mapEnd"));
    const secret = aPeer(9, { name: "secret-neighbour", presharedKey: new Secret(countingRandom(8)(32)) });

    const delta = { upserts: [secret], removals: [] };
    plane.change(delta, applyDelta(aNetworkMap(2), delta));
    await eventually("a change", () => onFrame.mock.calls.some(([frame]) => frame.kind === "delta"));

    const seen = (bytes: readonly Uint8Array[]): string => Buffer.concat(bytes).toString("latin1");
    const bodies = onFrame.mock.calls.flatMap(([frame]) => (frame.kind === "delta" ? [frame.body] : []));
    const hidden = ["secret-neighbour", seen([keyBytes(secret.publicKey)]), seen([countingRandom(8)(32)])];
    for (const text of hidden) {
      expect(seen(bodies)).toContain(text);
      expect(seen(recorded)).not.toContain(text);
    }
    expect(plane.streams.length).toBeGreaterThan(0);
    expect(seen(recorded)).not.toContain(joinKey.secret.expose());
    // Per connection: challenge and hello in the clear, the rest in records.
    expect(recorded.filter((message) => !isRecord(message))).toHaveLength(4);
    expect(recorded.filter(isRecord).length).toBeGreaterThan(5);
  });
});
