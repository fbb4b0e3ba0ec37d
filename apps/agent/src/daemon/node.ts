import type { EngineTuning, PeerState, TunnelEvent } from "@weft/dataplane";
import { type ApplyError, type MapPeer, type MapVersion, type RandomBytes } from "@weft/protocol";

import { AGENT_VERSION } from "../settings/agent-version.ts";
import type { ServerAddress } from "../settings/server-url.ts";
import { verifyServerSignature, type Identity } from "../state/identity.ts";
import { loadMapFile, saveMapFile } from "../state/map-file.ts";
import type { Membership, StateStore } from "../state/state-store.ts";
import type { Connect } from "../stream/connection.ts";
import type { HelloFacts } from "../stream/handshake.ts";
import type { Timers } from "../stream/timers.ts";
import { candidateEndpoints } from "./candidate-endpoints.ts";
import { createControlClient, type ControlClient } from "./control-client.ts";
import type { HostFacts } from "./host-facts.ts";
import { inflateMap } from "./inflate.ts";
import { createJobs } from "./jobs.ts";
import type { Log } from "./log.ts";
import { createMapReceiver, type MapOutcome, type MapReceiver } from "./map-receiver.ts";
import { createMapSync, type MapSync } from "./map-sync.ts";
import { networkRanges } from "./map-to-tunnel.ts";
import type { EndVerdict } from "./reconnect-plan.ts";
import { createStatusReporter } from "./status-reporter.ts";
import { createTunnelFactory } from "./tunnel-factory.ts";
import type { TunnelSystem } from "./tunnel-system.ts";

export type NodeDeps = {
  readonly timers: Timers;
  readonly wallClockMs: () => number;
  readonly random: RandomBytes;
  readonly chance: () => number;
  readonly connect: Connect;
  readonly system: TunnelSystem;
  readonly store: StateStore;
  readonly log: Log;
  readonly tuning: EngineTuning;
  readonly identity: Identity;
  readonly membership: Membership;
  readonly address: ServerAddress;
  readonly host: HostFacts;
  readonly events: NodeEvents;
};

export type NodeEvents = {
  /** A map was applied, from disk or from the server. */
  readonly onApplied: (errors: readonly ApplyError[]) => void;
  /** The membership is over. */
  readonly onRemoved: (message: string) => void;
};

/** One membership at work: tunnel, control stream, reports. */
export type MeshNode = {
  /** Brings the stored map up, then looks for the server. */
  readonly start: () => void;
  readonly sync: MapSync;
  readonly control: ControlClient;
  readonly version: () => MapVersion | null;
  readonly peerState: (peer: MapPeer) => PeerState | null;
  readonly problems: () => readonly string[];
  /** Ends stream and reports; the tunnel stays. */
  readonly disconnect: (message: string) => void;
  /** Writes a map that is not on disk yet. */
  readonly flush: () => void;
  /** Removes the tunnel. */
  readonly closeTunnel: () => void;
};

export function createNode(deps: NodeDeps): MeshNode {
  const { log, store, timers } = deps;
  let receiver = newReceiver(deps);
  let applyErrors: readonly ApplyError[] = [];
  let cancelSave = (): void => {};
  let cancelRetry = (): void => {};
  let cancelWatch = (): void => {};
  let lastEndpoints = "";

  const sync = createMapSync(createTunnelFactory({ ...deps, onEvent: (event) => onTunnelEvent(event) }));
  const peerState = (peer: MapPeer): PeerState | null => sync.tunnel()?.peer(peer.publicKey) ?? null;
  const problems = (): string[] => applyErrors.map((error) => `${error.object}: ${error.detail}`);

  const saveMap = (): void => {
    cancelSave();
    cancelSave = (): void => {};
    const saved = saveMapFile(store.paths.map, receiver.signedFrames());
    if (!saved.ok) log.error("map_not_saved", { message: saved.error.message });
  };
  const saveSoon = (): void => {
    cancelSave();
    cancelSave = timers.after(SAVE_DELAY_MS, saveMap);
  };
  /** A tunnel that could not be made is tried again: what was in the way may go. */
  const retryLater = (): void => {
    cancelRetry();
    cancelRetry = timers.after(RETRY_TUNNEL_MS, () => control.send({ kind: "needMap", reason: "start" }));
  };
  const applied = (errors: readonly ApplyError[]): void => {
    applyErrors = errors;
    for (const error of errors) log.error("apply_failed", { object: error.object, detail: error.detail });
    if (!sync.tunnel()) retryLater();
    deps.events.onApplied(errors);
    reporter.checkStatus();
  };

  const onMapOutcome = (outcome: MapOutcome): void => {
    if (outcome.kind === "wait") return;
    if (outcome.kind === "need") {
      log.warn("map_needed", { reason: outcome.reason, detail: outcome.detail });
      control.send({ kind: "needMap", reason: outcome.reason });
      return;
    }
    const startedMs = timers.nowMs();
    const hadTunnel = sync.tunnel() !== null;
    logNewKeys(log, sync, outcome);
    const errors = outcome.kind === "snapshot" ? sync.applyMap(outcome.map) : sync.applyChange(outcome.delta);
    control.send({ kind: "applied", ...outcome.version, durationMs: Math.round(timers.nowMs() - startedMs), errors });
    applied(errors);
    if (!hadTunnel) reporter.reportNow();
    if (outcome.kind === "snapshot") saveMap();
    else saveSoon();
    if (receiver.wantsCompaction()) control.send({ kind: "needMap", reason: "compact" });
  };

  const endpoints = (): ReturnType<typeof candidateEndpoints> => {
    const tunnel = sync.tunnel();
    const map = sync.map();
    const interfaces = deps.system.interfaces();
    if (!tunnel || !map || !interfaces.ok) return [];
    return candidateEndpoints(interfaces.value, tunnel.listenPort, {
      interfaceName: tunnel.interfaceName,
      ranges: networkRanges(map.self),
    });
  };
  /** Notices that the host moved: tells the server, and leaves a stream that hangs on a lost address. */
  const watchAddresses = (): void => {
    cancelWatch = timers.after(WATCH_ADDRESSES_MS, () => {
      const interfaces = deps.system.interfaces();
      const all = interfaces.ok ? interfaces.value.flatMap((link) => (link.up ? link.addresses : [])) : [];
      const seen = JSON.stringify(all);
      if (interfaces.ok && seen !== lastEndpoints) {
        const local = control.localAddress()?.replace(/^::ffff:/, "");
        if (lastEndpoints !== "" && local && !all.some((cidr) => cidr.split("/")[0] === local))
          control.reconnectNow(`the address ${local} is gone`);
        lastEndpoints = seen;
        reporter.checkStatus();
      }
      watchAddresses();
    });
  };

  const control = createControlClient(
    {
      ...deps,
      request: () => ({
        address: deps.address,
        serverKey: deps.membership.serverKey,
        identity: deps.identity,
        facts: helloFacts(deps, receiver),
        enrolmentKey: null,
      }),
    },
    {
      onConnected: () => reporter.connected(),
      onFrame(frame, raw) {
        if (frame.kind === "watch") reporter.watch(frame.intervalMs);
        else if (frame.kind === "job") jobs.run(frame);
        else if (frame.kind === "unsupported") log.warn("server_lacks_frame", { frame: frame.frameNumber });
        else onMapOutcome(receiver.handle(frame, raw));
      },
      onDisconnected(verdict) {
        receiver.streamEnded();
        reporter.disconnected();
        afterStream(verdict);
      },
    },
  );
  const afterStream = (verdict: EndVerdict): void => {
    if (verdict.kind === "final") deps.events.onRemoved(verdict.message);
  };

  const reporter = createStatusReporter({
    ...deps,
    counterEpoch: deps.host.counterEpoch,
    send: (frame) => control.send(frame),
    tunnel: sync.tunnel,
    peerByKey: sync.peerByKey,
    endpoints,
    problems,
    usage: deps.host.usage,
  });
  const jobs = createJobs({
    timers,
    pingOnce: deps.system.ping,
    send: (frame) => control.send(frame),
    map: sync.map,
    peerState,
  });

  const onTunnelEvent = (event: TunnelEvent): void => {
    if (event.kind !== "fault") return log.debug(event.kind.replaceAll("-", "_"), { publicKey: event.publicKey });
    const { operation, severity, errno } = event.fault;
    log.error("tunnel_fault", { operation, severity, errno });
    if (severity === "fatal") applied(sync.rebuild());
  };

  return {
    start() {
      const stored = loadMapFile(store.paths.map, receiver);
      if (stored.ok) {
        log.info("map_from_disk", { peers: stored.value.peers.length });
        applied(sync.applyMap(stored.value));
      } else {
        receiver = newReceiver(deps);
        if (stored.error.code !== "missing") log.error("map_not_loaded", { message: stored.error.message });
      }
      control.start();
      watchAddresses();
    },
    sync,
    control,
    version: () => receiver.version(),
    peerState,
    problems,
    disconnect(message) {
      cancelRetry();
      cancelWatch();
      reporter.stop();
      control.stop(message);
    },
    flush() {
      if (receiver.version()) saveMap();
    },
    closeTunnel() {
      sync.close();
      store.clearTraces();
    },
  };
}

function newReceiver(deps: NodeDeps): MapReceiver {
  return createMapReceiver({
    serverKey: deps.membership.serverKey,
    verify: verifyServerSignature,
    inflate: inflateMap,
  });
}

function helloFacts(deps: NodeDeps, receiver: MapReceiver): HelloFacts {
  const { bootId, counterEpoch, hostname, os, arch } = deps.host;
  return {
    agentVersion: AGENT_VERSION,
    bootId,
    counterEpoch,
    lastMap: receiver.version(),
    hostname,
    wantedName: "",
    os,
    arch,
    capabilities: [],
  };
}

/** SEC-2: no key joins the mesh without a line in the log. */
function logNewKeys(log: Log, sync: MapSync, outcome: Extract<MapOutcome, { kind: "snapshot" | "delta" }>): void {
  const peers = outcome.kind === "snapshot" ? outcome.map.peers : outcome.delta.upserts;
  const added = peers.filter((peer) => !sync.peerByKey(peer.publicKey)).map((peer) => `${peer.name} ${peer.publicKey}`);
  if (added.length > 0) log.info("peer_keys_added", { count: added.length, keys: added.slice(0, 100) });
}

const SAVE_DELAY_MS = 500;
const RETRY_TUNNEL_MS = 10_000;
const WATCH_ADDRESSES_MS = 2_000;
