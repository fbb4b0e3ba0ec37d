import { randomBytes } from "node:crypto";
import {
  type Prefix,
  parseEndpoint,
  parsePrefix,
  type PublicKey,
  publicKeyFromBytes,
  type Result,
} from "@weft/protocol";
import { describe, expect, test } from "vitest";
import { decodeCommands } from "../fake/decode-commands.ts";
import { createNodePrimitives } from "../io/node-primitives.ts";
import type { TunnelPeer } from "../tunnel.ts";
import type { EngineCommand } from "./engine-port.ts";
import { createLocalIdentity } from "./handshake/identity.ts";
import { createTunnelCore, type TunnelCore } from "./tunnel-core.ts";

describe("tunnel core", () => {
  test("gives the engine its cookie secrets at the start and again every two minutes", () => {
    const core = makeCore(4);
    const first = take(core);
    core.handleTimeout(at(119_999));
    expect(take(core)).toEqual([]);

    core.handleTimeout(at(120_000));

    const [second] = take(core);
    if (first[0]?.kind !== "set-cookie-secrets" || second?.kind !== "set-cookie-secrets") throw new Error("two pairs");
    expect(second.previous).toEqual(first[0].current);
    expect(second.current).not.toEqual(first[0].current);
    expect(core.nextTimeoutMs()).toBe(240_000);
  });

  test("a new peer becomes slot, endpoint and prefixes, in this order", () => {
    const core = makeCore(4);
    take(core);

    core.replacePeers([aPeer(7)], at(0));

    expect(take(core)).toMatchObject([
      { kind: "add-peer", slot: 0, keepaliveSeconds: 0 },
      { kind: "set-endpoint", slot: 0, endpoint: { port: 51_820 } },
      { kind: "set-allowed-ips", slot: 0, prefixes: [{ length: 32 }] },
    ]);
  });

  test("one change among 10,000 peers costs the commands of one peer", () => {
    const core = makeCore(16_384);
    core.replacePeers(
      Array.from({ length: 10_000 }, (_, index) => aPeer(index)),
      at(0),
    );
    take(core);

    core.changePeers(
      { upserts: [{ ...aPeer(5_000), keepaliveSeconds: 25, endpoints: [] }], removals: [keyOf(9)] },
      at(1),
    );

    const kinds = take(core).map((command) => command.kind);
    expect(kinds).toEqual(["remove-peer", "set-keepalive"]);
    expect(core.peerCount()).toBe(9_999);
  });

  test("the same map again sends nothing", () => {
    const core = makeCore(64);
    core.replacePeers([aPeer(1), aPeer(2)], at(0));
    take(core);

    core.replacePeers([aPeer(2), aPeer(1)], at(1));

    expect(take(core)).toEqual([]);
  });

  test("a removed peer's slot is used again, and late events of the old one are ignored", () => {
    const core = makeCore(1);
    core.replacePeers([aPeer(1)], at(0));
    take(core);

    core.replacePeers([aPeer(2)], at(1));
    core.handleEngineEvent({ kind: "session-expired", slot: 0, localIndex: 99 }, at(2));

    expect(take(core).map((command) => command.kind)).toEqual([
      "remove-peer",
      "add-peer",
      "set-endpoint",
      "set-allowed-ips",
    ]);
    expect(core.publicKeyAt(0)).toBe(keyOf(2));
  });

  test("more peers than the engine was made for are refused whole", () => {
    const core = makeCore(2);
    take(core);

    const result = core.replacePeers([aPeer(1), aPeer(2), aPeer(3)], at(0));

    expect(result).toMatchObject({ ok: false, error: { code: "too_many_peers", peersMax: 2 } });
    expect(take(core)).toEqual([]);
    expect(core.peerCount()).toBe(0);
  });

  test("our own key in the map is passed over", () => {
    const core = makeCore(2);
    const own = { ...aPeer(1), publicKey: must(publicKeyFromBytes(local.privateKey.publicKey.bytes)) };

    core.replacePeers([own, aPeer(2)], at(0));

    expect(core.peers().map(({ publicKey }) => publicKey)).toEqual([keyOf(2)]);
  });

  test("a prefix claimed twice goes to the later peer and comes back when that peer is removed", () => {
    const core = makeCore(4);
    const shared: readonly Prefix[] = [must(parsePrefix("10.0.0.0/8"))];
    core.replacePeers(
      [
        { ...aPeer(1), allowedIps: shared },
        { ...aPeer(2), allowedIps: shared },
      ],
      at(0),
    );
    take(core);

    core.changePeers({ upserts: [], removals: [keyOf(2)] }, at(1));

    expect(take(core)).toMatchObject([
      { kind: "remove-peer", slot: 1 },
      { kind: "set-allowed-ips", slot: 0, prefixes: [{ length: 8 }] },
    ]);
  });

  test("many peers that want a session at once are spread over time", () => {
    const core = makeCore(1_024);
    core.replacePeers(
      Array.from({ length: 500 }, (_, index) => aPeer(index)),
      at(0),
    );
    take(core);
    for (let slot = 0; slot < 500; slot += 1) {
      core.handleEngineEvent({ kind: "want-handshake", slot, reason: "no-session" }, at(0));
    }
    const atOnce = take(core).length;

    for (let nowMs = 1; nowMs <= 500; nowMs += 1) core.handleTimeout(at(nowMs));

    expect(atOnce).toBe(32);
    expect(core.counters.initiationsSent).toBe(500);
  });

  test("handshake messages that are no such thing are counted and answered by nothing", () => {
    const core = makeCore(4);
    take(core);

    for (const message of [
      new Uint8Array(0),
      new Uint8Array(148),
      Uint8Array.of(1, 0, 0, 0),
      new Uint8Array(92).fill(2),
    ]) {
      core.handleEngineEvent({ kind: "handshake-message", from: FROM, message, load: "normal", mac2: "absent" }, at(1));
    }

    expect(core.counters.droppedMalformed).toBe(4);
    expect(take(core)).toEqual([]);
  });

  test("faults of the engine reach the owner", () => {
    const core = makeCore(1);

    core.handleEngineEvent({ kind: "io-fault", operation: "tun-read", severity: "fatal", errno: 77 }, at(1));

    expect(core.pollEvent()).toEqual({ kind: "fault", fault: { operation: "tun-read", severity: "fatal", errno: 77 } });
    expect(core.pollEvent()).toBeUndefined();
  });

  test("a worker that failed reaches the owner with its reason", () => {
    const core = makeCore(1);

    core.handleEngineEvent({ kind: "shard-failed", shard: 3, message: "out of bounds" }, at(1));

    expect(core.pollEvent()).toEqual({ kind: "engine-failed", shard: 3, message: "out of bounds" });
  });
});

const local = createLocalIdentity(createNodePrimitives(), new Uint8Array(32).fill(5));
const FROM = { address: Uint8Array.of(192, 0, 2, 1), port: 1 };

function makeCore(peersMax: number): TunnelCore {
  return createTunnelCore({
    local,
    random: (byteCount) => new Uint8Array(randomBytes(byteCount)),
    peersMax,
    mtu: { mtu: 1_420, mtuMax: 1_420 },
    at: at(0),
  });
}

function at(nowMs: number): { readonly nowMs: number; readonly unixMs: number } {
  return { nowMs, unixMs: 1_700_000_000_000 + nowMs };
}

function take(core: TunnelCore): readonly EngineCommand[] {
  const commands = decodeCommands(core.commands.batch());
  core.commands.clear();
  return commands;
}

function aPeer(number: number): TunnelPeer {
  return {
    publicKey: keyOf(number),
    allowedIps: [must(parsePrefix(`100.64.${number >> 8}.${number & 255}/32`))],
    endpoints: [must(parseEndpoint("192.0.2.9:51820"))],
    keepaliveSeconds: 0,
  };
}

function keyOf(number: number): PublicKey {
  const bytes = new Uint8Array(32).fill(9);
  new DataView(bytes.buffer).setUint32(4, number);
  return must(publicKeyFromBytes(bytes));
}

function must<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error("a literal of this test is wrong");
  return result.value;
}
