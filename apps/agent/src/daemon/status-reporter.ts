import type { CipherChoice, LaneChoice, Tunnel } from "@weft/dataplane";
import {
  COUNTER_PEERS_MAX,
  type AgentFrame,
  type Endpoint,
  type MapPeer,
  type NodeStatus,
  type PublicKey,
} from "@weft/protocol";

import type { Timers } from "../stream/timers.ts";
import { createPeerChooser } from "./choose-peers.ts";
import { cipherState } from "./cipher-state.ts";
import { createRuleReporter, type RuleReporter } from "./rule-report.ts";
import { laneState, NO_LANES } from "./lane-state.ts";
import { activities, counterReport, type CountedPeer } from "./counter-report.ts";

/** Sends what the node counts and how it is: counters in a rhythm, the status when it changes. */
export type StatusReporter = {
  /** A stream is there: everything is told anew. */
  readonly connected: () => void;
  readonly disconnected: () => void;
  /** The server wants reports every so many milliseconds. */
  readonly watch: (intervalMs: number) => void;
  /** Sends the status now if it differs from what was sent last. */
  readonly checkStatus: () => void;
  /** A map was applied: the status may differ, and a new tunnel has counters. */
  readonly tunnelChanged: () => void;
  readonly stop: () => void;
};

export type StatusReporterDeps = {
  readonly timers: Timers;
  readonly wallClockMs: () => number;
  readonly counterEpoch: () => bigint;
  readonly send: (frame: AgentFrame) => void;
  readonly tunnel: () => Tunnel | null;
  readonly peerByKey: (key: PublicKey) => MapPeer | null;
  /** Where this node may be reached. */
  readonly endpoints: () => readonly Endpoint[];
  readonly problems: () => readonly string[];
  /** Milliseconds by which this host's clock is ahead of the server's; `null` while unknown. */
  readonly clockSkewMs: () => number | null;
  /** Whether the host forwards into what the node serves. */
  readonly forwarding: () => NodeStatus["forwarding"];
  readonly cipher: CipherChoice;
  /** Absent = no lanes are offered. */
  readonly lanes?: LaneChoice;
  readonly usage: () => { readonly cpuMicroseconds: bigint; readonly rssBytes: number };
};

export function createStatusReporter(deps: StatusReporterDeps): StatusReporter {
  const chooser = createPeerChooser<PublicKey>(COUNTER_PEERS_MAX);
  const rules = createRuleReporter();
  const startedMs = deps.timers.nowMs();
  let intervalMs = IDLE_INTERVAL_MS;
  let cancel = (): void => {};
  let online: "online" | "offline" = "offline";
  let reported: "nothing" | "counters" = "nothing";
  let sentStatus = "";
  let sentSkewMs: number | null = null;

  const report = (): void => {
    const tunnel = deps.tunnel();
    if (!tunnel) return;
    reported = "counters";
    deps.send({ kind: "counters", counters: readCounters(deps, tunnel, { chooser, rules, startedMs }) });
  };
  const schedule = (): void => {
    cancel();
    cancel = deps.timers.after(intervalMs, () => {
      if (online === "offline") return;
      report();
      checkStatus();
      schedule();
    });
  };
  const checkStatus = (): void => {
    const tunnel = deps.tunnel();
    if (online === "offline" || !tunnel) return;
    const status = readStatus(deps, tunnel);
    // The wall clock is told along with a change and is no change itself; neither is what measuring the skew is off by.
    const content = JSON.stringify({ ...status, wallClockMs: 0, clockSkewMs: 0 });
    if (content === sentStatus && isSameSkew(status.clockSkewMs, sentSkewMs)) return;
    sentStatus = content;
    sentSkewMs = status.clockSkewMs;
    deps.send({ kind: "status", status });
  };
  return {
    connected() {
      online = "online";
      intervalMs = IDLE_INTERVAL_MS;
      sentStatus = "";
      reported = "nothing";
      chooser.reset();
      rules.reset();
      checkStatus();
      report();
      schedule();
    },
    disconnected() {
      online = "offline";
      cancel();
    },
    watch(wantedMs) {
      intervalMs = Math.max(wantedMs, SHORTEST_INTERVAL_MS);
      if (online === "offline") return;
      report();
      schedule();
    },
    checkStatus,
    tunnelChanged() {
      const before = reported;
      checkStatus();
      if (online === "online" && before === "nothing") report();
    },
    stop() {
      online = "offline";
      cancel();
    },
  };
}

function readCounters(
  deps: StatusReporterDeps,
  tunnel: Tunnel,
  own: {
    readonly chooser: ReturnType<typeof createPeerChooser<PublicKey>>;
    readonly rules: RuleReporter;
    readonly startedMs: number;
  },
): ReturnType<typeof counterReport> {
  const counters = tunnel.counters();
  const chosen = new Set(own.chooser.choose(activities(counters, deps.peerByKey)));
  const rows = counters.peers.publicKeys.flatMap((key, row): CountedPeer[] => {
    const peer = key !== undefined && chosen.has(key) ? deps.peerByKey(key) : null;
    return peer ? [{ row, peer }] : [];
  });
  return counterReport(counters, rows, {
    counterEpoch: deps.counterEpoch(),
    uptimeMs: Math.floor(deps.timers.nowMs() - own.startedMs),
    ...deps.usage(),
    rules: own.rules.changed(counters),
    peerState: (key) => tunnel.peer(key),
    wallClockMs: deps.wallClockMs(),
  });
}

function readStatus(deps: StatusReporterDeps, tunnel: Tunnel): NodeStatus {
  const { interfaceName, listenPort, shards, offloads, lanes } = tunnel.status();
  return {
    interfaceName,
    listenPort,
    shards,
    endpoints: deps.endpoints().slice(0, 64),
    offloads: [
      ...offloads.map(({ name, state, reason }) => ({ name, state, reason: reason === "" ? null : reason })),
      cipherState(deps.cipher),
      laneState(deps.lanes ?? NO_LANES, lanes),
    ],
    wallClockMs: Math.floor(deps.wallClockMs()),
    clockSkewMs: deps.clockSkewMs(),
    forwarding: deps.forwarding(),
    problems: deps.problems().slice(0, 32),
  };
}

function isSameSkew(one: number | null, other: number | null): boolean {
  return one === null || other === null ? one === other : Math.abs(one - other) < SKEW_STEP_MS;
}

/** Smaller changes of the skew are not worth a message. */
const SKEW_STEP_MS = 250;
const IDLE_INTERVAL_MS = 10_000;
const SHORTEST_INTERVAL_MS = 500;
