import type { CipherChoice, EngineTuning, HostInterface, LaneChoice, PeerState, TunnelEvent } from "@weft/dataplane";
import type { AgentFrame, ApplyError, MapPeer, MapVersion, RandomBytes, ServerFrame } from "@weft/protocol";

import { AGENT_VERSION } from "../settings/agent-version.ts";
import type { ServerAddress } from "../settings/server-url.ts";
import type { Identity } from "../state/identity.ts";
import type { Membership, StateStore } from "../state/state-store.ts";
import type { Connect } from "../stream/connection.ts";
import type { StreamRequest } from "../stream/open-stream.ts";
import type { Timers } from "../stream/timers.ts";
import { createAddressWatch, type AddressWatch } from "./address-watch.ts";
import { announcedCapabilities, offersOf } from "./announced.ts";
import { ownEndpoints } from "./candidate-endpoints.ts";
import { createClockGauge, type ClockGauge } from "./clock-gauge.ts";
import { createControlClient, type ControlClient } from "./control-client.ts";
import { createFlowReporter } from "./flow-reporter.ts";
import { createEngineRestart, type EngineRestart, type EngineRestarts } from "./engine-restart.ts";
import type { HostFacts } from "../os/host-facts.ts";
import { createInterfaceGuard, type InterfaceGuard, type WantedInterface } from "./interface-guard.ts";
import { createJobs, type Diagnostics, type Jobs, type JobsDeps } from "./jobs.ts";
import type { ForbiddenJobs } from "../settings/forbidden-jobs.ts";
import type { Log } from "./log.ts";
import { createMapApplier } from "./map-applier.ts";
import { createMapKeeper, type MapKeeper, type MapKeeperDeps } from "./map-keeper.ts";
import { createMapSync, type MapSync } from "./map-sync.ts";
import type { NamesService, OpenNames } from "../names/names-service.ts";
import { createStoredProfileMemory, type ProfileMemory } from "./profile-memory.ts";
import type { ConcealSetting } from "../settings/conceal.ts";
import type { MtuPolicy } from "../settings/interface-mtu.ts";
import { createNodeSettingsTrial } from "./node-settings-trial.ts";
import { createNodeRoads, type NodeRoads as Roads } from "./node-roads.ts";
import { createStatusReporter, type StatusReporter } from "./status-reporter.ts";
import { createTunnelFactory } from "./tunnel-factory.ts";
import type { TunnelSystem } from "./tunnel-system.ts";

/** The machine and what the operator set: the same for every membership. */
export type NodeSurroundings = {
  readonly timers: Timers;
  readonly wallClockMs: () => number;
  readonly random: RandomBytes;
  readonly chance: () => number;
  readonly connect: Connect;
  readonly system: TunnelSystem;
  readonly store: StateStore;
  readonly log: Log;
  readonly tuning: EngineTuning;
  /** How datagrams are disguised; null = plain WireGuard. */
  readonly conceal: ConcealSetting | null;
  /** What is offered to other agents, and why. */
  readonly cipher: CipherChoice;
  /** Absent = no lanes are offered. */
  readonly lanes?: LaneChoice;
  readonly mtuPolicy: MtuPolicy;
  readonly host: HostFacts;
  readonly forbiddenJobs: ForbiddenJobs;
  /** How long new own settings may cut this node from the server. */
  readonly settingsTrialMs: number;
  /** Answers names of the network; absent = nobody does. */
  readonly openNames?: OpenNames;
};

export type NodeDeps = NodeSurroundings & {
  readonly identity: Identity;
  readonly membership: Membership;
  readonly address: ServerAddress;
  readonly events: NodeEvents;
  readonly diagnostics: Diagnostics;
};

type NodeEvents = {
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
  readonly cipher: CipherChoice;
  readonly lanes: LaneChoice;
  readonly peerState: (peer: MapPeer) => PeerState | null;
  /** Milliseconds by which this host's clock is ahead of the server's; `null` while unknown. */
  readonly clockSkewMs: () => number | null;
  readonly problems: () => readonly string[];
  /** How often the engine was started again, and why last. */
  readonly engine: () => EngineRestarts;
  /** Ends stream and reports; the tunnel stays. */
  readonly disconnect: (message: string) => void;
  /** Writes a map that is not on disk yet. */
  readonly flush: () => void;
  /** Keeps the host's routing as the map wants it. */
  readonly roads: Roads;
  /** Removes the tunnel. */
  readonly closeTunnel: () => void;
  /** Answers names; `null` when nobody does. */
  readonly names: NamesService | null;
  /** Removes the tunnel and what is stored of its network. */
  readonly forgetMap: () => void;
};

export function createNode(deps: NodeDeps): MeshNode {
  const { log, store, timers } = deps;
  const send = (frame: AgentFrame): void => void control.send(frame);
  const clock = createClockGauge({ ...deps, changed: () => reporter.checkStatus() });
  const profiles = createStoredProfileMemory({ path: store.paths.profiles, timers, log });
  const onEvent = (event: TunnelEvent): void => handleTunnelEvent(event, { log, guard, restart, profiles });
  const sync = createSync(deps, { profiles, onEvent });
  const peerState = (peer: MapPeer): PeerState | null => sync.tunnel()?.peer(peer.publicKey) ?? null;
  const applier = createMapApplier({
    ...deps,
    sync,
    send,
    onApplied(errors) {
      follow();
      deps.events.onApplied(errors);
      trial.follow();
      changed();
    },
  });
  const keeper = createKeeper(deps, { send, apply: applier.apply, saveFirst: profiles.flush });
  const control = createControlClient(
    { ...deps, request: () => streamRequest(deps, keeper.version()) },
    {
      onConnected: () => reporter.connected(),
      onServerClock: clock.told,
      onAnswer: (askedAtMs) => trial.answered(askedAtMs),
      onFrame: (frame, raw) => takeFrame({ frame, raw }, { reporter, jobs, keeper, log }),
      onDisconnected(verdict) {
        for (const end of [clock.reset, keeper.streamEnded, jobs.streamEnded, reporter.disconnected]) end();
        if (verdict.kind === "final") deps.events.onRemoved(verdict.message);
        else if (verdict.standing === "suspended") suspend(verdict.message);
      },
    },
  );
  /** The node may not use the network for now; identity and membership stay, so that it comes back by itself. */
  const suspend = (message: string): void => {
    if (sync.map()) log.warn("membership_suspended", { message });
    for (const part of [applier, restart]) part.stop();
    forgetMap();
  };
  const forgetMap = (): void => {
    closeTunnel(sync, store);
    for (const part of [keeper, profiles, trial]) part.forget();
    follow();
  };
  const follow = (): void => [roads.follow, names?.update].forEach((part) => part?.());
  const changed = (): void => reporter.tunnelChanged();
  const restart = createEngineRestart({ ...deps, takeDown: sync.takeDown, rebuild: applier.rebuild, changed });
  const trial = createNodeSettingsTrial(deps, { sync, control: () => control, used: follow, changed });
  const roads = createNodeRoads(deps, { sync, peerState, remoteAddress: () => control.remoteAddress(), changed });
  const names = deps.openNames?.({ sync, timers, log, changed: () => reporter.checkStatus() }) ?? null;
  const problems = (): readonly string[] => allProblems([trial, restart, applier, roads, names, clock]);
  const reporter = createReporter(deps, { sync, send, problems, clock, roads });
  const jobs = createNodeJobs(deps, { send, map: sync.map, peerState });
  const guard = guardInterface(deps, sync, roads.again);
  const addresses = watchAddresses(deps, { control, reporter, guard });

  return {
    start() {
      profiles.load();
      applier.applyStored(keeper.load());
      for (const part of [control, addresses]) part.start();
    },
    sync,
    control,
    version: keeper.version,
    ...offersOf(deps),
    peerState,
    clockSkewMs: clock.skewMs,
    problems,
    engine: restart.state,
    disconnect(message) {
      for (const part of [applier, restart, addresses, reporter, trial]) part.stop();
      control.stop(message);
    },
    roads,
    flush: keeper.flush,
    closeTunnel: () => closeTunnel(sync, store),
    names,
    forgetMap,
  };
}

function createSync(
  deps: NodeDeps,
  own: { readonly profiles: ProfileMemory; readonly onEvent: (event: TunnelEvent) => void },
): MapSync {
  logAdvice(deps);
  const makeTunnel = createTunnelFactory({ ...deps, onEvent: own.onEvent });
  const conceal = deps.conceal ? "host" : "map";
  return createMapSync(makeTunnel, { policy: deps.mtuPolicy, profiles: own.profiles, conceal });
}

function allProblems(parts: readonly ({ readonly problems: () => readonly string[] } | null)[]): readonly string[] {
  return parts.flatMap((part) => part?.problems() ?? []);
}

function logAdvice({ conceal, log }: NodeDeps): void {
  for (const message of conceal?.advice ?? []) log.warn("conceal_advice", { message });
}

function createKeeper(
  { store, membership, timers, log }: NodeDeps,
  own: Pick<MapKeeperDeps, "apply" | "saveFirst"> & { readonly send: (frame: AgentFrame) => void },
): MapKeeper {
  return createMapKeeper({
    path: store.paths.map,
    serverKey: membership.serverKey,
    timers,
    log,
    needMap: (reason) => own.send({ kind: "needMap", reason }),
    apply: own.apply,
    saveFirst: own.saveFirst,
  });
}

function createNodeJobs(
  { timers, system, diagnostics, forbiddenJobs }: NodeDeps,
  own: Pick<JobsDeps, "send" | "map" | "peerState">,
): Jobs {
  return createJobs({ ...own, timers, pingOnce: system.ping, diagnostics, forbidden: forbiddenJobs });
}

function takeFrame(
  { frame, raw }: { readonly frame: ServerFrame; readonly raw: Uint8Array },
  to: { readonly reporter: StatusReporter; readonly jobs: Jobs; readonly keeper: MapKeeper; readonly log: Log },
): void {
  if (frame.kind === "watch") to.reporter.watch(frame.intervalMs);
  else if (frame.kind === "job") to.jobs.run(frame);
  else if (frame.kind === "jobCancel") to.jobs.cancel(frame.jobId);
  else if (frame.kind === "unsupported") to.log.warn("server_lacks_frame", { frame: frame.frameNumber });
  else to.keeper.handle(frame, raw);
}

function createReporter(
  deps: NodeDeps,
  own: {
    readonly sync: MapSync;
    readonly send: (frame: AgentFrame) => void;
    readonly problems: () => readonly string[];
    readonly clock: ClockGauge;
    readonly roads: Roads;
  },
): StatusReporter {
  const { sync, clock, roads, ...rest } = own;
  // Every engine begins its counters at zero, so each has an epoch of its own.
  const counterEpoch = (): bigint => BigInt.asUintN(64, deps.host.counterEpoch + BigInt(sync.tunnelsMade() - 1));
  const status = createStatusReporter({
    ...deps,
    ...rest,
    clockSkewMs: clock.skewMs,
    forwarding: roads.forwarding,
    counterEpoch,
    tunnel: sync.tunnel,
    peerByKey: sync.peerByKey,
    endpoints: () => ownEndpoints(sync, interfacesOf(deps.system) ?? []),
    usage: deps.host.usage,
  });
  const flows = createFlowReporter({
    timers: deps.timers,
    tunnel: sync.tunnel,
    sampling: () => sync.self()?.flowSampling ?? 0,
    peerByKey: sync.peerByKey,
    counterEpoch,
    send: own.send,
  });
  const both = (name: "connected" | "disconnected" | "tunnelChanged" | "stop") => (): void => {
    for (const part of [status, flows]) part[name]();
  };
  return {
    ...status,
    connected: both("connected"),
    disconnected: both("disconnected"),
    tunnelChanged: both("tunnelChanged"),
    stop: both("stop"),
  };
}

function watchAddresses(
  { timers, system }: NodeDeps,
  own: { readonly control: ControlClient; readonly reporter: StatusReporter; readonly guard: InterfaceGuard },
): AddressWatch {
  return createAddressWatch({
    timers,
    interfaces: () => interfacesOf(system),
    streamAddress: own.control.localAddress,
    onChange: own.reporter.checkStatus,
    onLook: own.guard.check,
    onStreamAddressLost: (address) => own.control.reconnectNow(`the address ${address} is gone`),
  });
}

function closeTunnel(sync: MapSync, store: StateStore): void {
  sync.close();
  store.clearTraces();
}

function guardInterface(deps: NodeDeps, sync: MapSync, onRestored: () => void): InterfaceGuard {
  return createInterfaceGuard({
    timers: deps.timers,
    wanted: () => wantedInterface(sync),
    restore: () => {
      restoreInterface(sync, deps.log);
      onRestored();
    },
  });
}

function wantedInterface(sync: MapSync): WantedInterface | null {
  const tunnel = sync.tunnel();
  const self = sync.self();
  if (!tunnel || !self) return null;
  return { name: tunnel.interfaceName, addresses: [self.ipv4, self.ipv6].filter((address) => address !== null) };
}

function restoreInterface(sync: MapSync, log: Log): void {
  const [error] = sync.restoreInterface();
  if (error) log.error("interface_not_restored", { detail: error.detail });
  else log.warn("interface_restored", { interfaceName: sync.tunnel()?.interfaceName ?? "" });
}

function interfacesOf(system: TunnelSystem): readonly HostInterface[] | null {
  const read = system.interfaces();
  return read.ok ? read.value : null;
}

function logTunnelEvent(log: Log, event: TunnelEvent): void {
  if (event.kind === "fault") log.error("tunnel_fault", event.fault);
  else if (event.kind === "engine-failed") log.error("engine_failed", { shard: event.shard, reason: event.message });
  else if (event.kind === "mtu-wanted") log.info("mtu_changed", { mtu: event.mtu });
  else log.debug(event.kind.replaceAll("-", "_"), { publicKey: event.publicKey });
}

function handleTunnelEvent(
  event: TunnelEvent,
  own: {
    readonly log: Log;
    readonly guard: InterfaceGuard;
    readonly restart: EngineRestart;
    readonly profiles: ProfileMemory;
  },
): void {
  logTunnelEvent(own.log, event);
  if (event.kind === "profile-settled") own.profiles.settle(event.publicKey, event.profile);
  if (event.kind === "fault" && event.fault.operation === "tun-write") own.guard.suspect();
  const failure = engineFailure(event);
  if (failure !== null) own.restart.failed(failure);
}

/** Why the engine cannot go on, in a few words; `null` when it can. */
function engineFailure(event: TunnelEvent): string | null {
  if (event.kind === "engine-failed") return `worker ${event.shard}: ${event.message}`;
  if (event.kind !== "fault" || event.fault.severity !== "fatal") return null;
  return `${event.fault.operation} failed (errno ${event.fault.errno})`;
}

function streamRequest(deps: NodeDeps, lastMap: MapVersion | null): StreamRequest {
  const { bootId, counterEpoch, hostname, os, arch } = deps.host;
  return {
    address: deps.address,
    serverKey: deps.membership.serverKey,
    identity: deps.identity,
    enrolmentKey: null,
    facts: {
      agentVersion: AGENT_VERSION,
      bootId,
      counterEpoch,
      lastMap,
      hostname,
      wantedName: "",
      os,
      arch,
      capabilities: announcedCapabilities(deps),
    },
  };
}
