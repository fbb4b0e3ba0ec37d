import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { Engine } from "../core/engine-port.ts";
import { createLocalIdentity } from "../core/handshake/identity.ts";
import { createTunnelCore } from "../core/tunnel-core.ts";
import { encodeEvent } from "../fake/encode-events.ts";
import { createVirtualClock } from "../fake/virtual-clock.ts";
import type { TunnelEvent } from "../tunnel.ts";
import { createDrive, type Drive } from "./drive.ts";
import { createNodePrimitives } from "./node-primitives.ts";

test("takes a flood of events piece by piece and lets other work run between the pieces", () => {
  const { drive, time, engine, events } = start();
  const pieces: number[] = [];
  for (let round = 0; round < 3_000; round += 1) engine.push(encodeEvent(FAULT));
  drive.wake();
  const other = (): void => {
    pieces.push(events.length);
    if (events.length < 3_000) time.scheduler.soon(other);
  };
  time.scheduler.soon(other);

  time.advance(0);

  expect(events).toHaveLength(3_000);
  expect(pieces.length).toBeGreaterThan(3);
});

test("never delivers events from inside a change, and none after it was stopped in a handler", () => {
  const { drive, time, engine, events, onNext } = start();
  engine.push(encodeEvent(FAULT));
  engine.push(encodeEvent(FAULT));
  onNext(() => drive.stop());

  drive.change(() => {});
  expect(events).toHaveLength(0);
  time.advance(1_000);

  expect(events).toHaveLength(1);
  expect(drive.change(() => {})).toMatchObject({ ok: false, error: { code: "engine_failed" } });
});

test("sends everything of one turn as one batch, also when only a timer woke it", () => {
  const { drive, time, engine } = start();
  drive.change(() => {});
  const atStart = engine.batches.length;

  time.advance(600_000);

  expect(engine.batches.length - atStart).toBe(5);
  expect(engine.batches.every((bytes) => bytes === 72)).toBe(true);
});

test("stops with an error that names the place when the engine writes nonsense", () => {
  const { drive, time, engine } = start();
  engine.push(Uint8Array.of(99, 0, 0, 0, 0, 0, 0, 0));
  drive.wake();

  expect(() => time.advance(0)).toThrow("unknown_kind at 0");
});

const FAULT = { kind: "io-fault", operation: "poll", severity: "passing", errno: 4 } as const;

type Started = {
  readonly drive: Drive;
  readonly time: ReturnType<typeof createVirtualClock>;
  readonly engine: Engine & { readonly push: (record: Uint8Array) => void; readonly batches: readonly number[] };
  readonly events: readonly TunnelEvent[];
  readonly onNext: (run: () => void) => void;
};

function start(): Started {
  const time = createVirtualClock(1_700_000_000_000);
  const engine = recordingEngine();
  const events: TunnelEvent[] = [];
  let next = (): void => {};
  const core = createTunnelCore({
    local: createLocalIdentity(createNodePrimitives(), new Uint8Array(32).fill(3)),
    random: (byteCount) => new Uint8Array(randomBytes(byteCount)),
    peersMax: 1,
    mtu: { mtu: 1_420, mtuMax: 1_420 },
    at: { nowMs: 0, unixMs: 1_700_000_000_000 },
  });
  const onEvent = (event: TunnelEvent): void => {
    events.push(event);
    next();
  };
  const drive = createDrive({ core, engine, clock: time.clock, scheduler: time.scheduler, onEvent });
  return { drive, time, engine, events, onNext: (run) => void (next = run) };
}

function recordingEngine(): Started["engine"] {
  const waiting: Uint8Array[] = [];
  const batches: number[] = [];
  return {
    listenPort: 1,
    tunName: "t",
    shardCount: 1,
    batches,
    push: (record) => void waiting.push(record),
    apply: (commands) => void batches.push(commands.length),
    takeEvents(into) {
      let used = 0;
      for (let record = waiting[0]; record && used + record.length <= into.length; record = waiting[0]) {
        into.set(record, used);
        used += record.length;
        waiting.shift();
      }
      return used;
    },
    readPeerCounters: () => 0,
    readShardCounters: () => 0,
    readTotals: () => 0,
    readRuleCounters: () => 0,
    readFlows: () => 0,
    takeFlowRecords: () => ({ rows: 0, lost: 0 }),
    status: () => ({ offloads: [] }),
    injectPanic: () => {},
    close: () => {},
  };
}
