import { type Endpoint, PLAIN_CONCEAL } from "@weft/protocol";
import type { Engine, EngineCommand } from "../core/engine-port.ts";
import { FLOW_COLUMNS } from "../core/flow-row.ts";
import { WIREGUARD_SILENCE } from "../core/timer-ranges.ts";
import { endpointFromWire, wireEndpoint } from "../core/wire-address.ts";
import { decodeCommands } from "./decode-commands.ts";
import { encodeEvent } from "./encode-events.ts";
import { inPrefix, parsePacket } from "./inner-packet.ts";
import type { InMemoryEngineInput, MemoryEngineState } from "./memory-engine-state.ts";
import { disguise } from "./memory-conceal.ts";
import { createMemoryFilter } from "./memory-filter.ts";
import { createMemoryPeer, type MemoryPeer, sessionsOf } from "./memory-peer.ts";
import { noteLarge, sendProbe } from "./memory-probes.ts";
import { receiveDatagram } from "./memory-receive.ts";
import { flowRow, writeFlows } from "./memory-rows.ts";
import { dropSession, ENGINE_TICK_MS, installInto, tickPeer } from "./memory-sessions.ts";
import { sealTransport } from "./memory-transport.ts";

export type InMemoryEngine = Engine & {
  /** An inner packet goes into the tunnel. */
  readonly sendPacket: (packet: Uint8Array) => void;
  /** Whether handshake messages must prove their address from now on. */
  readonly setLoad: (load: "normal" | "high") => void;
  /** Moves to another outer address, as a roaming host does. */
  readonly moveTo: (endpoint: Endpoint) => void;
};

/** The engine's rules without its speed: real cryptography and records, packets and time in memory. */
export function createInMemoryEngine(input: InMemoryEngineInput): InMemoryEngine {
  const events: Uint8Array[] = [];
  let endpoint = input.endpoint;

  const state: MemoryEngineState = {
    input,
    peers: new Map(),
    sessions: new Map(),
    filter: createMemoryFilter(),
    cookieSecrets: [],
    conceal: PLAIN_CONCEAL,
    silence: WIREGUARD_SILENCE,
    load: "normal",
    dropped: 0n,
    emit(event) {
      events.push(encodeEvent(event));
      input.wake();
    },
    transmit(to, payload) {
      const target = endpointFromWire(to);
      if (target) input.network.send({ from: endpoint, to: target, payload: disguise(payload, state.conceal) });
    },
  };
  const attach = (): (() => void) => input.network.attach(endpoint, (datagram) => receiveDatagram(state, datagram));
  const tick = (): void => {
    for (const peer of state.peers.values()) tickPeer(state, peer);
    cancelTick = input.scheduler.after(ENGINE_TICK_MS, tick);
  };
  let detach = attach();
  let cancelTick = input.scheduler.after(ENGINE_TICK_MS, tick);

  return {
    listenPort: wireEndpoint(endpoint).port,
    tunName: input.interfaceName,
    shardCount: 1,
    apply: (commands) => decodeCommands(commands).forEach((command) => execute(state, command)),
    takeEvents: (into) => takeWhole(events, into),
    readPeerCounters: (into) => writeRows(into, [...state.peers.values()].map(counterRow)),
    readShardCounters: () => 0,
    readTotals: (into) => writeRows(into, [[state.dropped]]),
    readRuleCounters: (into) => writeRows(into, state.filter.ruleRows(input.clock.nowMs())),
    readFlows: (from, into) => {
      const nowMs = input.clock.nowMs();
      const rows = state.filter.flows().map((flow, position) => flowRow(position, flow, nowMs));
      return writeFlows(rows, from, into);
    },
    takeFlowRecords(sampling, into) {
      const nowMs = input.clock.nowMs();
      const rows = state.filter.takeRecords(sampling, nowMs).map((flow) => flowRow(0, flow, nowMs));
      return { rows: writeFlows(rows, 0n, into), lost: 0 };
    },
    status: () => ({ offloads: [] }),
    close() {
      detach();
      cancelTick();
      state.sessions.clear();
    },
    injectPanic: (shard) => state.emit({ kind: "shard-failed", shard, message: "a panic was asked for" }),
    sendPacket: (bytes) => sendPacket(state, bytes),
    setLoad(load) {
      state.load = load;
    },
    moveTo(next) {
      detach();
      endpoint = next;
      detach = attach();
    },
  };
}

function execute(state: MemoryEngineState, command: EngineCommand): void {
  if (command.kind === "set-filter") state.filter.replace(command);
  else if (command.kind === "set-cookie-secrets") state.cookieSecrets = [command.current, command.previous];
  else if (command.kind === "set-conceal") state.conceal = command.disguise?.profile ?? PLAIN_CONCEAL;
  else if (command.kind === "set-silence") state.silence = command.silence;
  else if (command.kind !== "set-mtu") executePeerCommand(state, command);
}

function sendPacket(state: MemoryEngineState, bytes: Uint8Array): void {
  const packet = parsePacket(bytes);
  const peer = packet && longestMatch(state, packet.destination);
  const passage = { direction: "out", bytes: bytes.length, nowMs: state.input.clock.nowMs() } as const;
  if (peer && state.filter.passes(packet, { ...passage, slot: peer.slot })) sendInner(state, peer, bytes);
  else state.dropped += 1n;
}

type PeerCommand = Exclude<
  EngineCommand,
  { kind: "set-filter" | "set-cookie-secrets" | "set-mtu" | "set-conceal" | "set-silence" }
>;

function executePeerCommand(state: MemoryEngineState, command: PeerCommand): void {
  if (command.kind === "retire-session") return dropSession(state, command.localIndex);
  if (command.kind === "add-peer") {
    if (state.peers.has(command.slot)) throw new Error(`slot ${command.slot} is taken`);
    const peer = createMemoryPeer(command.slot, command.keepaliveSeconds, state.input.clock.nowMs());
    state.peers.set(command.slot, peer);
    return;
  }
  const peer = command.slot === null ? undefined : state.peers.get(command.slot);
  if (command.kind === "send-handshake") {
    const to = command.endpoint ?? peer?.endpoint;
    if (to) state.transmit(to, command.message);
    return;
  }
  if (!peer) throw new Error(`no peer in slot ${command.slot}`);
  changePeer(state, peer, command);
}

type ChangeCommand = Exclude<PeerCommand, { kind: "retire-session" | "add-peer" | "send-handshake" }>;

function changePeer(state: MemoryEngineState, peer: MemoryPeer, command: ChangeCommand): void {
  switch (command.kind) {
    case "remove-peer":
      for (const session of sessionsOf(peer)) state.sessions.delete(session.keys.localIndex);
      state.peers.delete(peer.slot);
      state.filter.forget(peer.slot);
      return;
    case "set-allowed-ips":
      for (const other of state.peers.values()) {
        other.prefixes = other.prefixes.filter((held) => !command.prefixes.some((taken) => samePrefix(held, taken)));
      }
      peer.prefixes = command.prefixes;
      return;
    case "set-endpoint":
      peer.endpoint = command.endpoint;
      return;
    case "set-keepalive":
      peer.keepaliveSeconds = command.keepaliveSeconds;
      return;
    case "install-session":
      installInto(state, peer, command);
      if (command.keys.role === "initiator") flushQueue(state, peer);
      return;
    case "handshake-gave-up":
      peer.queue = [];
      peer.handshake = "not-wanted";
      return;
    case "set-path-mtu":
      peer.probes = command.probes;
      peer.wantsLargeSent = command.probes === "answered";
      return;
    case "send-probe":
      sendProbe(state, peer, command);
  }
}

function sendInner(state: MemoryEngineState, peer: MemoryPeer, inner: Uint8Array): void {
  if (peer.current && peer.endpoint) {
    sealTransport(state, peer, inner);
    return noteLarge(state, peer, inner.length);
  }
  peer.queue = [...peer.queue, inner].slice(-QUEUE_PACKETS_MAX);
  if (peer.handshake === "wanted") return;
  peer.handshake = "wanted";
  state.emit({ kind: "want-handshake", slot: peer.slot, reason: "no-session" });
}

/** What waited for the session goes out; at least one packet does, so that the other side knows the session works. */
function flushQueue(state: MemoryEngineState, peer: MemoryPeer): void {
  const waiting = peer.queue.length > 0 ? peer.queue : [new Uint8Array(0)];
  peer.queue = [];
  for (const inner of waiting) sealTransport(state, peer, inner);
}

function longestMatch(state: MemoryEngineState, address: Uint8Array): MemoryPeer | null {
  let best: { readonly peer: MemoryPeer; readonly length: number } | null = null;
  for (const peer of state.peers.values()) {
    for (const prefix of peer.prefixes) {
      if (inPrefix(address, prefix) && prefix.length >= (best?.length ?? 0)) best = { peer, length: prefix.length };
    }
  }
  return best?.peer ?? null;
}

function samePrefix(
  left: { address: Uint8Array; length: number },
  right: { address: Uint8Array; length: number },
): boolean {
  return left.length === right.length && left.address.join() === right.address.join();
}

function takeWhole(events: Uint8Array[], into: Uint8Array): number {
  let used = 0;
  for (let next = events[0]; next && used + next.length <= into.length; next = events[0]) {
    into.set(next, used);
    used += next.length;
    events.shift();
  }
  return used;
}

function counterRow(peer: MemoryPeer): readonly bigint[] {
  return [BigInt(peer.slot), peer.rxBytes, peer.rxPackets, peer.txBytes, peer.txPackets];
}

function writeRows(into: BigUint64Array, rows: readonly (readonly bigint[])[]): number {
  const width = rows[0]?.length ?? 0;
  if (rows.length * width > into.length) return -rows.length;
  for (const [index, row] of rows.entries()) into.set(row, index * width);
  return rows.length;
}

/** Column names of the tables above. */
export const IN_MEMORY_COUNTERS = {
  peers: ["peer", "rxBytes", "rxPackets", "txBytes", "txPackets"],
  shards: ["shard", "stage"],
  stages: [],
  totals: ["dropped"],
  rules: ["rule", "packets", "bytes", "drops", "flows", "lastHitAgeMs"],
  flows: FLOW_COLUMNS,
} as const;

const QUEUE_PACKETS_MAX = 64;
