import { randomBytes } from "node:crypto";
import { keyBytes, type PublicKey } from "@weft/protocol";
import type { EngineEvent } from "../core/engine-port.ts";
import { createLocalIdentity, createRemoteIdentity } from "../core/handshake/identity.ts";
import { createInitiation } from "../core/handshake/initiator.ts";
import { writeMacs } from "../core/handshake/macs.ts";
import { KEY_BYTES } from "../core/handshake/primitives.ts";
import { tai64n } from "../core/handshake/tai64n.ts";
import { NO_PRESHARED_KEY } from "../core/handshake/transcript.ts";
import { createTunnelCore, type TunnelCore } from "../core/tunnel-core.ts";
import { createNodePrimitives } from "../io/node-primitives.ts";
import { generateKeyPair, type KeyPair } from "../keys.ts";
import type { HandshakeCounters } from "../tunnel.ts";

/** Initiations from many peers, and a core that answers them. */
export type ResponderLoad = {
  /** Feeds every prepared initiation once and takes the commands that answer them; returns how many were fed. */
  readonly runAll: () => number;
  readonly counters: HandshakeCounters;
};

/** "peer": known, and had a handshake before; "new-peer": known, first contact; "stranger": not known. */
export type Sender = "peer" | "new-peer" | "stranger";

/** `sender` says who initiates. Preparing costs about as much as running. */
export function createResponderLoad(initiations: number, sender: Sender): ResponderLoad {
  const own = generateKeyPair();
  const core = createTunnelCore({
    local: createLocalIdentity(primitives, own.privateKey.expose()),
    random,
    peersMax: initiations,
    mtu: { mtu: 1_420, mtuMax: 1_420 },
    at: { nowMs: 0, unixMs: UNIX_MS },
  });
  const peers = Array.from({ length: initiations }, generateKeyPair);
  const eventsAt = (unixMs: number): readonly EngineEvent[] =>
    peers.map((peer) => initiationOf(peer, { to: own.publicKey, unixMs }));
  if (sender !== "stranger")
    knowAll(
      core,
      peers.map(({ publicKey }) => publicKey),
    );
  if (sender === "peer") feed(core, eventsAt(UNIX_MS));
  const events = eventsAt(UNIX_MS + PAUSE_MS);
  core.commands.clear();
  return { runAll: () => feed(core, events), counters: core.counters };
}

function initiationOf(peer: KeyPair, target: { readonly to: PublicKey; readonly unixMs: number }): EngineEvent {
  const local = createLocalIdentity(primitives, peer.privateKey.expose());
  const remote = createRemoteIdentity(local, { publicKey: keyBytes(target.to), presharedKey: NO_PRESHARED_KEY });
  const ephemeral = primitives.importPrivateKey(random(KEY_BYTES));
  const timestamp = tai64n(target.unixMs, null);
  if (!remote) throw new Error("a made key has no low order");
  const made = createInitiation({ local, remote, ephemeral, localIndex: 1, timestamp });
  if (!made.ok) throw new Error(made.error.code);
  const { message } = made.value;
  writeMacs(primitives, message, { mac1Key: remote.mac1Key, cookie: null });
  return { kind: "handshake-message", from: FROM, message, load: "normal", mac2: "absent" };
}

function knowAll(core: TunnelCore, keys: readonly PublicKey[]): void {
  const peers = keys.map((publicKey) => ({ publicKey, allowedIps: [], endpoints: [], keepaliveSeconds: 0 }));
  core.replacePeers(peers, { nowMs: 0, unixMs: UNIX_MS });
}

function feed(core: TunnelCore, events: readonly EngineEvent[]): number {
  let nowMs = core.counters.initiationsAccepted === 0 ? 0 : LATER_MS;
  for (const [index, event] of events.entries()) {
    nowMs += 1;
    core.handleEngineEvent(event, { nowMs, unixMs: UNIX_MS });
    if (index % COMMANDS_PER_BATCH === 0) core.commands.clear();
  }
  core.commands.clear();
  while (core.pollEvent()) continue;
  return events.length;
}

const primitives = createNodePrimitives();
const random = (byteCount: number): Uint8Array => new Uint8Array(randomBytes(byteCount));

/** Far enough apart that the second initiation of a peer is neither a replay nor too fast. */
const PAUSE_MS = 1_000;
const LATER_MS = 100_000;
const UNIX_MS = 1_700_000_000_000;
const COMMANDS_PER_BATCH = 32;
const FROM = { address: Uint8Array.of(192, 0, 2, 1), port: 51_820 };
