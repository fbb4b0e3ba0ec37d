import type { AgentFrame, ServerFrame } from "@weft/protocol";

import { createBackoff } from "../stream/backoff.ts";
import type { Welcome } from "../stream/handshake.ts";
import {
  openStream,
  type AgentStream,
  type StreamDeps,
  type StreamEnd,
  type StreamRequest,
} from "../stream/open-stream.ts";
import { createHeartbeat } from "./heartbeat.ts";
import type { Log } from "./log.ts";
import type { Timers } from "../stream/timers.ts";
import { planReconnect, type EndVerdict } from "./reconnect-plan.ts";

/** Where the agent stands with its control plane. */
export type ControlState =
  | { readonly state: "connecting"; readonly attempts: number }
  | { readonly state: "connected"; readonly sinceMs: number }
  | { readonly state: "waiting"; readonly reason: string; readonly retryAtMs: number }
  /** The server ended the membership; nothing is tried any more. */
  | { readonly state: "ended"; readonly reason: string }
  | { readonly state: "stopped" };

export type ControlEvents = {
  readonly onConnected: (welcome: Welcome) => void;
  readonly onFrame: (frame: ServerFrame, raw: Uint8Array) => void;
  readonly onDisconnected: (verdict: EndVerdict) => void;
  /** What the server's wall clock showed at some moment since the given one of the monotonic clock. */
  readonly onServerClock: (wallClockMs: number, sinceMs: number) => void;
  /** The server answered what was asked at a moment of the monotonic clock. */
  readonly onAnswer: (askedAtMs: number) => void;
};

export type ControlClientDeps = StreamDeps & {
  readonly log: Log;
  /** 0 ≤ value < 1. */
  readonly chance: () => number;
  /** Built anew for every attempt: it tells which map the agent has. */
  readonly request: () => StreamRequest;
};

/** Holds one stream to the control plane open, for ever if need be. Its loss touches nothing else. */
export type ControlClient = {
  readonly start: () => void;
  /** Says goodbye and ends. */
  readonly stop: (message: string) => void;
  /** Sends when connected; tells whether it did. */
  readonly send: (frame: AgentFrame) => "sent" | "not_connected";
  /** Asks the server for an answer now, when connected. */
  readonly ask: () => void;
  readonly state: () => ControlState;
  /** Drops the stream and connects again at once (the host's addresses have changed). */
  readonly reconnectNow: (reason: string) => void;
  readonly localAddress: () => string | null;
  readonly remoteAddress: () => string | null;
};

export function createControlClient(deps: ControlClientDeps, events: ControlEvents): ControlClient {
  const { timers, log } = deps;
  const backoff = createBackoff(timers, deps.chance);
  let state: ControlState = { state: "stopped" };
  let attempts = 0;
  let stream: AgentStream | null = null;
  let endStream: (message: string) => void = () => {};
  let cancelRetry = (): void => {};
  const serverClock = createServerClock(timers, events);
  let lastBye: Extract<ServerFrame, { kind: "bye" }> | null = null;
  const heartbeat = createHeartbeat({
    ...deps,
    ping: (token) => stream?.send(serverClock.asked({ kind: "ping", token })),
    onSilence: (silentMs) => endStream(`nothing heard from the server for ${Math.round(silentMs / 1000)} s`),
  });

  const connect = (): void => {
    attempts += 1;
    lastBye = null;
    serverClock.connecting();
    state = { state: "connecting", attempts };
    endStream = openStream(deps, deps.request(), { onOpen, onFrame, onEnd });
  };
  const onOpen = (welcome: Welcome, opened: AgentStream): void => {
    stream = opened;
    state = { state: "connected", sinceMs: timers.nowMs() };
    log.info("control_connected", { mode: welcome.mode, attempts });
    attempts = 0;
    heartbeat.start(welcome.heartbeatMs);
    serverClock.welcomed(welcome);
    events.onConnected(welcome);
  };
  const onFrame = (frame: ServerFrame, raw: Uint8Array): void => {
    heartbeat.heard();
    if (frame.kind === "ping") stream?.send({ kind: "pong", token: frame.token, wallClockMs: null });
    else if (frame.kind === "bye") {
      lastBye = frame;
      endStream(frame.message === "" ? `the server said goodbye: ${frame.reason}` : frame.message);
    } else if (frame.kind === "pong") serverClock.answered(frame);
    else events.onFrame(frame, raw);
  };
  const onEnd = (end: StreamEnd): void => {
    heartbeat.stop();
    stream = null;
    if (state.state === "stopped") return;
    if (state.state === "connected" && timers.nowMs() - state.sinceMs >= STABLE_MS) backoff.reset();
    const verdict = planReconnect({ end, bye: lastBye }, { backoff, chance: deps.chance });
    state = stateAfter(verdict, timers.nowMs());
    if (verdict.kind === "retry") cancelRetry = timers.after(verdict.delayMs, connect);
    log.warn(verdict.kind === "retry" ? "control_lost" : "control_ended", { ...verdict });
    events.onDisconnected(verdict);
  };

  return {
    start() {
      if (state.state === "stopped") connect();
    },
    stop(message) {
      cancelRetry();
      stream?.send({ kind: "bye", reason: "agent_stopping", detail: "none", message, retryAfterMs: 0 });
      state = { state: "stopped" };
      endStream(message);
    },
    send(frame) {
      if (!stream) return "not_connected";
      stream.send(frame);
      return "sent";
    },
    ask: () => stream?.send(serverClock.asked({ kind: "ping", token: BigInt(Math.floor(timers.nowMs())) })),
    state: () => state,
    reconnectNow(reason) {
      if (state.state !== "connected" && state.state !== "waiting") return;
      log.info("control_reconnect", { reason });
      backoff.reset();
      if (state.state === "connected") endStream(reason);
      cancelRetry();
      connect();
    },
    localAddress: () => stream?.localAddress() ?? null,
    remoteAddress: () => stream?.remoteAddress() ?? null,
  };
}

type PingFrame = Extract<ServerFrame, { kind: "ping" }>;

/** Pairs questions and answers, so that it is known between which moments the server read its clock. */
function createServerClock(
  { nowMs }: Timers,
  { onAnswer, onServerClock }: Pick<ControlEvents, "onAnswer" | "onServerClock">,
) {
  let sinceMs = 0;
  let token: bigint | null = null;
  const told = ({ wallClockMs }: { readonly wallClockMs: number | null }): void => {
    if (wallClockMs !== null) onServerClock(wallClockMs, sinceMs);
    onAnswer(sinceMs);
  };
  return {
    connecting() {
      token = null;
      sinceMs = nowMs();
    },
    welcomed: told,
    asked(ping: PingFrame): PingFrame {
      ({ token } = ping);
      sinceMs = nowMs();
      return ping;
    },
    answered(pong: Extract<ServerFrame, { kind: "pong" }>) {
      if (pong.token !== token) return;
      token = null;
      told(pong);
    },
  };
}

function stateAfter(verdict: EndVerdict, nowMs: number): ControlState {
  if (verdict.kind === "final") return { state: "ended", reason: verdict.message };
  return { state: "waiting", reason: verdict.message, retryAtMs: nowMs + verdict.delayMs };
}

/** A stream that lived this long was a success: the next loss starts with short delays. */
const STABLE_MS = 10_000;
