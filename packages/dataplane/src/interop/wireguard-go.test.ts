import { type ChildProcess, fork, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { performance } from "node:perf_hooks";
import {
  type Endpoint,
  endpointParts,
  hostPrefix,
  parseEndpoint,
  parseIp,
  type PublicKey,
  type Result,
  Secret,
  toBase64,
} from "@weft/protocol";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createInMemoryTunnel, type InMemoryTunnel, type TunnelWorld } from "../fake/in-memory-tunnel.ts";
import { createNodeScheduler } from "../io/node-scheduler.ts";
import { generateKeyPair, type KeyPair } from "../keys.ts";
import { createNamespace, type Namespace, whyNoNamespaces } from "./namespace.ts";

const reason = whyNoNamespaces(["wireguard-go", "wg", "ping"]);

/** The core, with the in-memory engine over a real UDP socket, against a WireGuard that is not ours. */
describe.skipIf(reason !== null)(`handshakes with wireguard-go${reason ? ` (skipped: ${reason})` : ""}`, () => {
  const ours = generateKeyPair();
  const theirs = generateKeyPair();
  const presharedKey = new Secret(new Uint8Array(randomBytes(32)));
  let stranger: Stranger;
  let door: Door;

  beforeAll(async () => {
    stranger = await startWireguardGo({ ours, theirs, presharedKey });
    door = await openDoor(stranger.namespace.name);
  });

  afterEach(() => {
    for (const { tunnel } of opened.splice(0)) tunnel.close();
  });

  afterAll(async () => {
    door?.close();
    await stranger?.close();
  });

  test("as initiator: a session, an echo through it, a rekey, and the session goes on", async () => {
    const time = shiftableTime();
    const host = startOurs({ time, door, ours, presharedKey, theirs: theirs.publicKey, endpoints: [THEIR_ENDPOINT] });

    host.engine.sendPacket(echoRequest(1));
    await eventually("an echo reply", () => host.received.some((packet) => isEchoReply(packet, 1)));
    const first = stranger.latestHandshake(ours.publicKey);
    time.shift(121_000);
    host.engine.sendPacket(echoRequest(2));
    await eventually("a second handshake", () => host.tunnel.counters().handshakes.responsesAccepted === 2);
    host.engine.sendPacket(echoRequest(3));
    await eventually("an echo reply under the new keys", () => host.received.some((packet) => isEchoReply(packet, 3)));

    expect(first).toBeGreaterThan(0);
    expect(host.tunnel.counters().handshakes).toMatchObject({ responsesAccepted: 2, droppedBadTag: 0 });
  });

  test("as responder: wireguard-go initiates, its ping is answered, and its keepalive arrives", async () => {
    const time = shiftableTime();
    const host = startOurs({ time, door, ours, presharedKey, theirs: theirs.publicKey, endpoints: [] });
    answerEchoes(host);
    stranger.restartSessions();

    const output = await stranger.namespace.runBeside("ping", "-c", "5", "-i", "0.3", "-W", "10", OUR_ADDRESS);

    expect(output).toMatch(/[1-5] received/);
    expect(host.tunnel.counters().handshakes.initiationsAccepted).toBeGreaterThanOrEqual(1);
    expect(host.tunnel.peers()[0]).toMatchObject({ session: { state: "up" }, endpoint: THEIR_ENDPOINT });
    host.engine.sendPacket(echoRequest(9));
    await eventually("an echo reply", () => host.received.some((packet) => isEchoReply(packet, 9)));
  });
});

type Stranger = {
  readonly namespace: Namespace;
  readonly latestHandshake: (peer: PublicKey) => number;
  readonly restartSessions: () => void;
  readonly close: () => Promise<void>;
};

async function startWireguardGo(keys: {
  ours: KeyPair;
  theirs: KeyPair;
  presharedKey: Secret<Uint8Array>;
}): Promise<Stranger> {
  const device = `wft${process.pid}`.slice(0, 15);
  const namespace = createNamespace(`weft-t1-${process.pid}`);
  const child = spawn("ip", ["netns", "exec", namespace.name, "wireguard-go", "-f", device], { stdio: "ignore" });
  await eventually("wireguard-go's control socket", () => existsSync(`/var/run/wireguard/${device}.sock`));
  const files = { theirs: `${tmpdir()}/${device}.key`, shared: `${tmpdir()}/${device}.psk` };
  writeFileSync(files.theirs, toBase64(keys.theirs.privateKey.expose()), { mode: 0o600 });
  writeFileSync(files.shared, toBase64(keys.presharedKey.expose()), { mode: 0o600 });
  const addPeer = (): void => {
    const peer = ["peer", keys.ours.publicKey, "preshared-key", files.shared, "allowed-ips", `${OUR_ADDRESS}/32`];
    namespace.run("wg", "set", device, ...peer, "endpoint", OUR_ENDPOINT);
  };
  namespace.run(
    "wg",
    "set",
    device,
    "listen-port",
    String(endpointParts(THEIR_ENDPOINT).port),
    "private-key",
    files.theirs,
  );
  addPeer();
  namespace.run("ip", "address", "add", `${THEIR_ADDRESS}/24`, "dev", device);
  namespace.run("ip", "link", "set", device, "up");
  return {
    namespace,
    latestHandshake(peer) {
      const line = namespace
        .run("wg", "show", device, "latest-handshakes")
        .split("\n")
        .find((text) => text.startsWith(peer));
      return Number(line?.split("\t")[1] ?? 0);
    },
    restartSessions() {
      namespace.run("wg", "set", device, "peer", keys.ours.publicKey, "remove");
      addPeer();
    },
    async close() {
      child.kill("SIGTERM");
      await once(child, "exit");
      rmSync(files.theirs, { force: true });
      rmSync(files.shared, { force: true });
      namespace.remove();
    },
  };
}

type Door = { readonly network: TunnelWorld["network"]; readonly close: () => void };

async function openDoor(namespace: string): Promise<Door> {
  const { address, port } = endpointParts(OUR_ENDPOINT);
  const script = new URL("udp-door.mjs", import.meta.url).pathname;
  const child: ChildProcess = fork(script, [address, String(port)], {
    execPath: "ip",
    execArgv: ["netns", "exec", namespace, process.execPath],
  });
  await once(child, "message");
  return {
    network: {
      attach(endpoint, receive) {
        const onMessage = (message: unknown): void => {
          const { from, payload } = arrived(message);
          receive({ from, to: endpoint, payload });
        };
        child.on("message", onMessage);
        return () => void child.off("message", onMessage);
      },
      send({ to, payload }) {
        const target = endpointParts(to);
        child.send({ host: target.address, port: target.port, payload: toBase64(payload) });
      },
    },
    close: () => child.disconnect(),
  };
}

function arrived(message: unknown): { readonly from: Endpoint; readonly payload: Uint8Array } {
  if (typeof message !== "object" || message === null || !("from" in message) || !("payload" in message)) {
    throw new Error("the door sends datagrams only");
  }
  return {
    from: must(parseEndpoint(String(message.from))),
    payload: new Uint8Array(Buffer.from(String(message.payload), "base64")),
  };
}

type ShiftableTime = TunnelWorld["time"] & { readonly shift: (byMs: number) => void };

/** Real time that can be set forward, so that a session grows old while the other side's clock goes on. */
function shiftableTime(): ShiftableTime {
  let shiftMs = 0;
  return {
    clock: { nowMs: () => performance.now() + shiftMs, unixMs: () => Date.now() + shiftMs },
    scheduler: createNodeScheduler(),
    shift: (byMs) => void (shiftMs += byMs),
  };
}

function startOurs(input: {
  readonly time: ShiftableTime;
  readonly door: Door;
  readonly ours: KeyPair;
  readonly theirs: PublicKey;
  readonly presharedKey: Secret<Uint8Array>;
  readonly endpoints: readonly Endpoint[];
}): InMemoryTunnel {
  const host = createInMemoryTunnel({
    world: { time: input.time, network: input.door.network },
    privateKey: input.ours.privateKey,
    endpoint: OUR_ENDPOINT,
    addresses: [],
    random: (byteCount) => new Uint8Array(randomBytes(byteCount)),
  });
  host.tunnel.replaceFilter([
    { id: 1, action: "allow", direction: "both", protocol: null, source: null, destination: null, ports: null },
  ]);
  opened.push(host);
  const allowedIps = [hostPrefix(must(parseIp(THEIR_ADDRESS)))];
  const { presharedKey, endpoints } = input;
  host.tunnel.replacePeers([{ publicKey: input.theirs, presharedKey, allowedIps, endpoints, keepaliveSeconds: 0 }]);
  return host;
}

function answerEchoes(host: InMemoryTunnel): void {
  let answered = 0;
  const timer = setInterval(() => {
    for (; answered < host.received.length; answered += 1) {
      const request = host.received[answered];
      if (request && request[9] === 1 && request[20] === 8) host.engine.sendPacket(echoReplyTo(request));
    }
  }, 5);
  timer.unref();
}

/** A ping packet from our inner address to theirs. */
function echoRequest(sequence: number): Uint8Array {
  const packet = new Uint8Array(28 + 8);
  packet.set([0x45, 0, 0, packet.length, 0, 0, 0, 0, 64, 1]);
  packet.set(OUR_ADDRESS.split(".").map(Number), 12);
  packet.set(THEIR_ADDRESS.split(".").map(Number), 16);
  packet.set([8, 0, 0, 0, 0x77, 0x66, 0, sequence], 20);
  return withChecksums(packet);
}

function echoReplyTo(request: Uint8Array): Uint8Array {
  const packet = new Uint8Array(request);
  packet.set(request.subarray(16, 20), 12);
  packet.set(request.subarray(12, 16), 16);
  packet[20] = 0;
  return withChecksums(packet);
}

function isEchoReply(packet: Uint8Array, sequence: number): boolean {
  return packet[9] === 1 && packet[20] === 0 && packet[27] === sequence;
}

function withChecksums(packet: Uint8Array): Uint8Array {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.length);
  view.setUint16(10, 0);
  view.setUint16(22, 0);
  view.setUint16(10, checksum(packet.subarray(0, 20)));
  view.setUint16(22, checksum(packet.subarray(20)));
  return packet;
}

function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}

/** Waits until something holds, at most twenty seconds. */
async function eventually(what: string, holds: () => boolean): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`${what} did not come within 20 s`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function must<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error("a literal of this test is wrong");
  return result.value;
}

/** Closed after each test, also after one that failed: two tunnels behind one door would both answer. */
const opened: InMemoryTunnel[] = [];
const OUR_ADDRESS = "10.77.0.1";
const THEIR_ADDRESS = "10.77.0.2";
const OUR_ENDPOINT = must(parseEndpoint("127.0.0.1:47001"));
const THEIR_ENDPOINT = must(parseEndpoint("127.0.0.1:47002"));
