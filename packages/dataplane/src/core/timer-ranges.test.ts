import { randomBytes } from "node:crypto";
import { formatConcealProblem, parseEndpoint, PLAIN_CONCEAL, setConcealKeys } from "@weft/protocol";
import { describe, expect, test } from "vitest";
import { createLoadInitiator, importLoadKey } from "../bench/initiator.ts";
import { decodeCommands } from "../fake/decode-commands.ts";
import { createNodePrimitives } from "../io/node-primitives.ts";
import { generateKeyPair, type KeyPair } from "../keys.ts";
import type { EngineCommand } from "./engine-port.ts";
import { createLocalIdentity } from "./handshake/identity.ts";
import { createTunnelCore, type TunnelCore } from "./tunnel-core.ts";

type Keys = Readonly<Record<string, string>>;

describe("timers of a profile", () => {
  test("TMR-04 the pause between two initiations of ours is the least of rekey_timeout", () => {
    const [alice, bob] = pair({ rekey_timeout: "3-9" });
    alice.want(0);
    bob.receive(alice.takeMessages(), 10);
    alice.receive(bob.takeMessages(), 20);

    alice.want(1_000);

    expect(alice.takeMessages()).toHaveLength(0);
    expect(alice.core.nextTimeoutMs()).toBe(3_000);
    alice.timeout(3_000);
    expect(alice.takeMessages()).toHaveLength(1);
  });

  test("TMR-05 an initiation without an answer is repeated after a drawn time and up to a third of a second", () => {
    const [alice] = pair({ rekey_timeout: "3-9", max_handshake_attempts: "60" });
    alice.want(0);
    const gaps: number[] = [];
    for (let last = 0; gaps.length < 60;) {
      const next = alice.core.nextTimeoutMs();
      alice.timeout(next);
      if (alice.takeMessages().length === 0) continue;
      gaps.push(next - last);
      last = next;
    }

    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(3_000);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(9_333);
    expect(new Set(gaps.map((gap) => Math.floor(gap / 1_000))).size).toBeGreaterThan(3);
  });

  test.each([
    { keys: { max_handshake_attempts: "3" }, least: 5, most: 5 },
    { keys: { max_handshake_attempts: "2-6" }, least: 4, most: 8 },
    { keys: { rekey_timeout: "2" }, least: 20, most: 20 },
  ])("TMR-06 it is given up after $least to $most initiations with $keys, and what waited is dropped", (given) => {
    const [alice] = pair(given.keys);
    alice.want(0);
    let sent = alice.takeMessages().length;
    let commands: readonly EngineCommand[] = [];
    while (!commands.some(({ kind }) => kind === "handshake-gave-up")) {
      alice.timeout(alice.core.nextTimeoutMs());
      commands = alice.take();
      sent += messagesOf(commands).length;
    }

    expect(sent).toBeGreaterThanOrEqual(given.least);
    expect(sent).toBeLessThanOrEqual(given.most);
    expect(alice.core.pollEvent()).toMatchObject({ kind: "handshake-failed", attempts: sent });
  });

  test("CFG-17 a new profile leaves the session alone and starts a handshake with each connected peer", () => {
    const [alice, bob] = pair({ s1: "15" });
    alice.want(0);
    bob.receive(alice.takeMessages(), 10);
    alice.receive(bob.takeMessages(), 20);
    alice.take();

    alice.core.replaceConceal(PLAIN_CONCEAL, at(9_000));

    const kinds = alice.take().map(({ kind }) => kind);
    expect(kinds).toEqual(["set-conceal", "set-silence", "send-handshake"]);
    bob.core.replaceConceal(PLAIN_CONCEAL, at(9_000));
    expect(messagesOf(bob.take()), "its session is not confirmed").toHaveLength(0);
  });

  test("B-46 a first attempt without an address does not hold the handshake up once there is one", () => {
    const [alice, bob] = pair({ s1: "15" });
    const peer = { publicKey: bob.keys.publicKey, allowedIps: [], keepaliveSeconds: 25 };
    alice.core.replacePeers([], at(0));
    alice.core.replacePeers([{ ...peer, endpoints: [] }], at(0));
    alice.want(0);
    expect(alice.takeMessages()).toHaveLength(0);

    const endpoint = parseEndpoint("192.0.2.9:51820");
    if (!endpoint.ok) throw new Error("a literal of this test is wrong");
    alice.core.replacePeers([{ ...peer, endpoints: [endpoint.value] }], at(1_000));
    alice.timeout(1_000);

    expect(alice.takeMessages()).toHaveLength(1);
  });

  test("TMR-07 TMR-08 the engine learns between which times silence ends, and of WireGuard's own without a profile", () => {
    const [alice] = pair({ keepalive_timeout: "4-8", rekey_timeout: "6-12" });

    expect(silencesOf(alice.started)).toEqual([
      { keepaliveMs: { low: 4_000, high: 8_000 }, noAnswerMs: { low: 14_000, high: 20_333 } },
    ]);
    alice.core.replaceConceal(null, at(1));
    expect(silencesOf(alice.take())).toEqual([
      { keepaliveMs: { low: 10_000, high: 10_000 }, noAnswerMs: { low: 15_000, high: 15_000 } },
    ]);
  });

  test("TMR-09 TMR-10 TMR-11 ages are drawn once per session, and its end is the most of reject_after_time", () => {
    const keys = { rekey_after_time: "60-90", reject_after_time: "150-200", keepalive_timeout: "7-9" };
    const seen = { send: new Set<number>(), receive: new Set<number>() };
    for (let round = 0; round < 30; round += 1) {
      const [alice, bob] = pair(keys);
      alice.want(0);
      bob.receive(alice.takeMessages(), 10);
      const ageing = bob.take().find((command) => command.kind === "install-session")?.ageing;
      expect(ageing).toMatchObject({ rejectAfterMs: 200_000 });
      seen.send.add(ageing?.rekeyOnSendMs ?? 0);
      seen.receive.add(ageing?.rekeyOnReceiveMs ?? 0);
    }

    expect([...seen.send].every((age) => age >= 60_000 && age <= 90_000)).toBe(true);
    // 150 to 200, less 7 of the keepalive and 5 of the pause between initiations.
    expect([...seen.receive].every((age) => age >= 138_000 && age <= 188_000)).toBe(true);
    expect(Math.min(seen.send.size, seen.receive.size)).toBeGreaterThan(5);
  });

  test("TMR-10 a session of WireGuard's own ages is installed without any", () => {
    const [alice, bob] = pair({ jc: "0" });
    alice.want(0);
    bob.receive(alice.takeMessages(), 10);

    expect(bob.take().find((command) => command.kind === "install-session")).toMatchObject({ ageing: null });
  });

  test("TMR-12 a cookie is used for 120 seconds, whatever the profile says", () => {
    const [alice, bob] = pair({ ...OTHER_TIMERS, max_handshake_attempts: "500" });
    alice.want(0);
    const [first] = alice.takeMessages();
    if (!first) throw new Error("an initiation leaves at once");
    bob.core.handleEngineEvent({ kind: "cookie-wanted", from: FROM, message: first }, at(50));
    alice.receive(bob.takeMessages(), 100);

    const seen: { readonly atMs: number; readonly proven: boolean }[] = [];
    for (let nowMs = 100; nowMs < 200_000; nowMs = alice.core.nextTimeoutMs()) {
      if (nowMs > 100) alice.timeout(nowMs);
      for (const message of alice.takeMessages()) {
        seen.push({ atMs: nowMs, proven: message.subarray(132).some((byte) => byte !== 0) });
      }
    }

    expect(seen.filter(({ proven }) => proven).length).toBeGreaterThan(20);
    expect(seen.filter(({ proven }) => !proven).length).toBeGreaterThan(10);
    expect(seen.every(({ atMs, proven }) => proven === atMs - 100 < 120_000)).toBe(true);
  });

  test("TMR-12 fifty initiations a second are taken of one peer, whatever the profile says", () => {
    const [alice, bob] = pair(OTHER_TIMERS);
    const load = createLoadInitiator(alice.keys.privateKey.expose(), bob.keys.publicKey);
    const ephemeral = importLoadKey(new Uint8Array(randomBytes(32)));

    for (const nowMs of [0, 19, 20, 39, 40]) {
      bob.receive([load.initiate(ephemeral, nowMs + 1, UNIX_MS + nowMs).message], nowMs);
    }

    expect(bob.core.counters).toMatchObject({ initiationsAccepted: 3, droppedTooFast: 2 });
  });
});

const OTHER_TIMERS: Keys = {
  rekey_timeout: "2",
  rekey_after_time: "3",
  reject_after_time: "9",
  keepalive_timeout: "1",
};
const UNIX_MS = 1_700_000_000_000;
const FROM = { address: Uint8Array.of(192, 0, 2, 9), port: 51_820 };

type Side = {
  readonly core: TunnelCore;
  readonly keys: KeyPair;
  /** What the core told the engine at its start. */
  readonly started: readonly EngineCommand[];
  readonly want: (nowMs: number) => void;
  readonly timeout: (nowMs: number) => void;
  readonly receive: (messages: readonly Uint8Array[], nowMs: number) => void;
  readonly take: () => readonly EngineCommand[];
  readonly takeMessages: () => readonly Uint8Array[];
};

/** Two cores under one profile that know each other. */
function pair(profile: Keys): readonly [Side, Side] {
  const [own, other] = [generateKeyPair(), generateKeyPair()];
  return [side(profile, own, other), side(profile, other, own)];
}

function side(profile: Keys, keys: KeyPair, other: KeyPair): Side {
  const conceal = setConcealKeys(PLAIN_CONCEAL, Object.entries(profile));
  if (!conceal.ok) throw new Error(conceal.error.map(formatConcealProblem).join());
  const core = createTunnelCore({
    local: createLocalIdentity(createNodePrimitives(), keys.privateKey.expose()),
    random: (byteCount) => new Uint8Array(randomBytes(byteCount)),
    peersMax: 4,
    mtu: { mtu: 1_420, mtuMax: 1_420 },
    conceal: conceal.value,
    at: at(0),
  });
  const endpoint = parseEndpoint("192.0.2.9:51820");
  if (!endpoint.ok) throw new Error("a literal of this test is wrong");
  const peer = { publicKey: other.publicKey, allowedIps: [], endpoints: [endpoint.value], keepaliveSeconds: 0 };
  core.replacePeers([peer], at(0));
  const take = (): readonly EngineCommand[] => {
    const commands = decodeCommands(core.commands.batch());
    core.commands.clear();
    return commands;
  };
  return {
    core,
    keys,
    started: take(),
    want: (nowMs) => core.handleEngineEvent({ kind: "want-handshake", slot: 0, reason: "no-session" }, at(nowMs)),
    timeout: (nowMs) => core.handleTimeout(at(nowMs)),
    receive(messages, nowMs) {
      for (const message of messages) {
        const event = { kind: "handshake-message", from: FROM, message, load: "normal", mac2: "absent" } as const;
        core.handleEngineEvent(event, at(nowMs));
      }
    },
    take,
    takeMessages: () => messagesOf(take()),
  };
}

function messagesOf(commands: readonly EngineCommand[]): readonly Uint8Array[] {
  return commands.flatMap((command) => (command.kind === "send-handshake" ? [command.message] : []));
}

function silencesOf(commands: readonly EngineCommand[]): readonly unknown[] {
  return commands.flatMap((command) => (command.kind === "set-silence" ? [command.silence] : []));
}

function at(nowMs: number): { readonly nowMs: number; readonly unixMs: number } {
  return { nowMs, unixMs: UNIX_MS + nowMs };
}
