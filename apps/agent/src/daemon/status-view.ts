import type { LaneChoice, PeerPathMtu, PeerProfile, Tunnel, TunnelCounters } from "@weft/dataplane";
import { LANES_OFFERED_MAX, type LinkCipher, type MapPeer, type OffloadState } from "@weft/protocol";

import { AGENT_VERSION } from "../settings/agent-version.ts";
import type { Membership } from "../state/state-store.ts";
import { cipherState } from "./cipher-state.ts";
import { dropReason, handshakeAgeMs, isDropColumn, valueAt } from "./counter-report.ts";
import { laneNote, laneState } from "./lane-state.ts";
import type { ControlState } from "./control-client.ts";
import { engineView, type EngineView } from "./engine-view.ts";
import type { NamesView } from "../names/names-service.ts";
import type { MeshNode } from "./node.ts";

/** What `weft status` shows; its JSON form is part of the interface. */
export type StatusView = {
  readonly version: string;
  readonly pid: number;
  readonly uptimeMs: number;
  readonly server: {
    readonly url: string;
    readonly state: ControlState["state"];
    readonly reason: string | null;
    readonly retryInMs: number | null;
    /** Milliseconds by which this host's clock is ahead of the server's; `null` while there is no stream. */
    readonly clockSkewMs: number | null;
  };
  readonly network: string | null;
  readonly name: string | null;
  readonly peerId: string;
  readonly publicKey: string | null;
  readonly interface: string | null;
  readonly ipv4: string | null;
  readonly ipv6: string | null;
  readonly listenPort: number | null;
  readonly map: { readonly epoch: string; readonly sequence: string } | null;
  readonly peers: readonly PeerView[];
  readonly offloads: readonly OffloadState[];
  /** What the engine's workers wait with and read the interface through, and why it is not a ring; `null` without an engine. */
  readonly driver: { readonly name: "epoll" | "io_uring"; readonly reason: string | null } | null;
  readonly engine: EngineView;
  /** How names of the network are answered; `null`: not by this agent. */
  readonly names: NamesView | null;
  readonly problems: readonly string[];
};

export type PeerView = {
  readonly id: string;
  readonly name: string;
  readonly publicKey: string;
  readonly ipv4: string | null;
  readonly ipv6: string | null;
  readonly endpoint: string | null;
  readonly session: "none" | "handshaking" | "up";
  readonly lastHandshakeAgeMs: number | null;
  /** How what both ends should do beyond plain WireGuard stands; docs/design/profiles/design.md explains the words. */
  readonly profile: PeerProfile["state"];
  /** Those of the present session; of plain WireGuard without one. */
  readonly cipher: LinkCipher;
  readonly elision: "on" | "off";
  /** UDP source ports that the session agreed on; 1 = the one that every peer has. */
  readonly lanes: number;
  /** Those that data goes by, and why not by all. */
  readonly lanesInUse: number;
  readonly lanesNote: string | null;
  /** How much the path carries; docs/design/path-mtu/design.md explains the states. */
  readonly pathMtu: PeerPathMtu;
  readonly rxBytes: number;
  readonly txBytes: number;
  readonly drops: { readonly [reason: string]: number };
};

export function statusView(
  node: MeshNode,
  membership: Membership,
  now: { readonly nowMs: number; readonly wallClockMs: number },
): StatusView {
  const map = node.sync.map();
  const tunnel = node.sync.tunnel();
  const version = node.version();
  const offloads = tunnel?.status().offloads ?? [];
  return {
    version: AGENT_VERSION,
    pid: process.pid,
    uptimeMs: Math.floor(process.uptime() * 1000),
    server: { ...serverView(membership.serverUrl, node.control.state(), now.nowMs), clockSkewMs: node.clockSkewMs() },
    network: map?.self.networkName ?? null,
    name: map?.self.name ?? null,
    peerId: membership.peerId,
    publicKey: tunnel?.publicKey ?? null,
    interface: tunnel?.interfaceName ?? null,
    ipv4: map?.self.ipv4 ?? null,
    ipv6: map?.self.ipv6 ?? null,
    listenPort: tunnel?.listenPort ?? null,
    map: version ? { epoch: version.epoch.toString(16), sequence: version.sequence.toString() } : null,
    peers: map && tunnel ? peerViews(map.peers, { tunnel, choice: node.lanes }, now.wallClockMs) : [],
    offloads: [...offloads, cipherState(node.cipher), laneState(node.lanes, tunnel?.status().lanes ?? null)],
    driver: driverView(offloads),
    engine: engineView(tunnel, node.engine()),
    names: node.names?.view() ?? null,
    problems: node.problems(),
  };
}

function driverView(offloads: readonly OffloadState[]): StatusView["driver"] {
  const ring = offloads.find(({ name }) => name === "ioUring");
  if (ring === undefined) return null;
  return { name: ring.state === "on" ? "io_uring" : "epoll", reason: ring.reason };
}

function serverView(url: string, control: ControlState, nowMs: number): Omit<StatusView["server"], "clockSkewMs"> {
  switch (control.state) {
    case "connecting":
    case "connected":
    case "stopped":
      return { url, state: control.state, reason: null, retryInMs: null };
    case "waiting":
      return {
        url,
        state: control.state,
        reason: control.reason,
        retryInMs: Math.max(0, Math.round(control.retryAtMs - nowMs)),
      };
    case "ended":
      return { url, state: control.state, reason: control.reason, retryInMs: null };
  }
}

function peerViews(
  peers: readonly MapPeer[],
  { tunnel, choice }: { readonly tunnel: Tunnel; readonly choice: LaneChoice },
  wallClockMs: number,
): PeerView[] {
  const own = { choice, sockets: 1 + tunnel.status().lanes.ports.length };
  const counters = tunnel.counters();
  const rows = new Map(counters.peers.publicKeys.map((key, row) => [key, row]));
  return peers.map((peer) => {
    const state = tunnel.peer(peer.publicKey);
    const row = rows.get(peer.publicKey);
    const session = state?.session.state ?? "none";
    const agreed = Math.min(state?.profile.used?.lanes ?? 1, LANES_OFFERED_MAX);
    const inUse = row === undefined ? 1 : rowValue(counters, row, "lanesInUse");
    return {
      id: peer.id,
      name: peer.name,
      publicKey: peer.publicKey,
      ipv4: peer.ipv4,
      ipv6: peer.ipv6,
      endpoint: state?.endpoint ?? null,
      session,
      lastHandshakeAgeMs: handshakeAgeMs(state, wallClockMs),
      profile: state?.profile.state ?? "pending",
      cipher: state?.profile.used?.cipher ?? "chacha20-poly1305",
      elision: state?.profile.used?.elision ?? "off",
      lanes: agreed,
      lanesInUse: inUse,
      lanesNote: laneNote({ agreed, inUse }, { ...own, session }),
      pathMtu: state?.pathMtu ?? { state: "unknown" },
      ...(row === undefined ? { rxBytes: 0, txBytes: 0, drops: {} } : rowView(counters, row)),
    };
  });
}

function rowValue({ peers }: TunnelCounters, row: number, name: string): number {
  const column = peers.columns.indexOf(name);
  return column < 0 ? 0 : Number(valueAt(peers, row, column));
}

function rowView(counters: TunnelCounters, row: number): Pick<PeerView, "rxBytes" | "txBytes" | "drops"> {
  const at = (name: string): number => rowValue(counters, row, name);
  const drops = counters.peers.columns
    .filter((name) => isDropColumn(name) && at(name) > 0)
    .map((name) => [dropReason(name), at(name)] as const);
  return { rxBytes: at("rxBytes"), txBytes: at("txBytes"), drops: Object.fromEntries(drops) };
}
