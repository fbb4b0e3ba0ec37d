import type { Result } from "@weft/protocol";
import type { TunnelClock, TunnelError, TunnelEvent } from "../tunnel.ts";
import type { Moment } from "../core/core-context.ts";
import { decodeEvents } from "../core/decode-events.ts";
import type { Engine } from "../core/engine-port.ts";
import type { TunnelCore } from "../core/tunnel-core.ts";

/** What the loop needs from the event loop; the virtual clock of tests fits too. */
export type Scheduler = {
  /** Runs once after the current turn and after waiting I/O; returns how to cancel. */
  readonly soon: (run: () => void) => () => void;
  /** Runs once after a delay; returns how to cancel. */
  readonly after: (delayMs: number, run: () => void) => () => void;
};

export type DriveInput = {
  readonly core: TunnelCore;
  readonly engine: Engine;
  readonly clock: TunnelClock;
  readonly scheduler: Scheduler;
  readonly onEvent: (event: TunnelEvent) => void;
};

/** The loop between engine and core: events in, commands out in one batch, one timer. */
export type Drive = {
  /** The engine has events. */
  readonly wake: () => void;
  /** Runs a change of the core now and sends what follows from it. */
  readonly change: <T>(run: (at: Moment) => T) => Result<T, TunnelError>;
  readonly stop: () => void;
};

export function createDrive(input: DriveInput): Drive {
  const { core, engine, scheduler } = input;
  const buffer = new Uint8Array(EVENT_BUFFER_BYTES);
  let cancelTurn: (() => void) | null = null;
  let cancelTimer: (() => void) | null = null;
  let state: "running" | "stopped" = "running";

  const now = (): Moment => ({ nowMs: input.clock.nowMs(), unixMs: input.clock.unixMs() });

  const requestTurn = (): void => {
    if (state === "running") cancelTurn ??= scheduler.soon(turn);
  };

  const turn = (): void => {
    cancelTurn = null;
    if (state === "stopped") return;
    const more = takeEvents(input, buffer, now);
    core.handleTimeout(now());
    flush();
    if (more === "more") requestTurn();
    deliver();
  };

  const flush = (): void => {
    const batch = core.commands.batch();
    if (batch.length > 0) engine.apply(batch);
    core.commands.clear();
    cancelTimer?.();
    const delayMs = Math.max(0, Math.ceil(core.nextTimeoutMs() - input.clock.nowMs()));
    cancelTimer = scheduler.after(Math.min(delayMs, TIMER_MS_MAX), requestTurn);
  };

  /** The owner may close the tunnel from inside its handler: then the rest is not delivered. */
  const nextEvent = (): TunnelEvent | undefined => (state === "running" ? core.pollEvent() : undefined);
  const deliver = (): void => {
    for (let event = nextEvent(); event; event = nextEvent()) input.onEvent(event);
  };

  return {
    wake: requestTurn,
    change(run) {
      if (state === "stopped") return { ok: false, error: { code: "engine_failed", message: "The tunnel is closed." } };
      const value = run(now());
      flush();
      requestTurn(); // Events that follow are delivered from the loop, never from inside this call.
      return { ok: true, value };
    },
    stop() {
      state = "stopped";
      cancelTurn?.();
      cancelTimer?.();
    },
  };
}

/** Takes one buffer of events; a flood waits for the next turn, so that timers and other work get theirs. */
function takeEvents(input: DriveInput, buffer: Uint8Array, now: () => Moment): "more" | "done" {
  const used = input.engine.takeEvents(buffer);
  if (used === 0) return "done";
  const decoded = decodeEvents(buffer.subarray(0, used));
  if (!decoded.ok)
    throw new Error(`the engine wrote a bad event record: ${decoded.error.code} at ${decoded.error.offset}`);
  for (const event of decoded.value) input.core.handleEngineEvent(event, now());
  return "more";
}

/** About 45 handshake messages: some 15 ms of work. */
const EVENT_BUFFER_BYTES = 8_192;
/** Longest delay a Node timer takes. */
const TIMER_MS_MAX = 2 ** 31 - 1;
