import type { ConcealProfile, PublicKey, Result } from "@weft/protocol";
import type { Engine } from "./core/engine-port.ts";
import type { LocalIdentity } from "./core/handshake/identity.ts";
import { createTunnelCore } from "./core/tunnel-core.ts";
import { type CounterNames, createCounterReader } from "./io/counter-reader.ts";
import { createDrive, type Scheduler } from "./io/drive.ts";
import { createRecordReader, readFlows } from "./io/flow-reader.ts";
import { createMtuControl, mtuBounds } from "./io/mtu-control.ts";
import type { InterfaceControl } from "./io/interface-control.ts";
import type {
  OffloadState,
  Tunnel,
  TunnelClock,
  TunnelError,
  TunnelEvent,
  TunnelSelf,
  TunnelStatus,
} from "./tunnel.ts";

/** The parts of a tunnel that differ between the real one and the one of tests. */
export type EngineTunnelParts = {
  readonly publicKey: PublicKey;
  readonly local: LocalIdentity;
  readonly random: (byteCount: number) => Uint8Array;
  readonly clock: TunnelClock;
  readonly scheduler: Scheduler;
  readonly peersMax: number;
  /** See `TunnelCoreInput`. */
  readonly rekeyAfterMs?: number;
  readonly interfaceControl: InterfaceControl;
  readonly self: TunnelSelf;
  readonly checksumElision?: "auto" | "off";
  readonly conceal?: ConcealProfile;
  readonly counterNames: CounterNames;
  readonly onEvent: (event: TunnelEvent) => void;
  /** Starts the engine; `wake` is called when it has events. */
  readonly startEngine: (wake: () => void) => Result<Engine, TunnelError>;
};

/** Puts core, loop and an engine together. */
export function createEngineTunnel(parts: EngineTunnelParts): Result<Tunnel, TunnelError> {
  const { clock } = parts;
  let wake = (): void => {};
  const started = parts.startEngine(() => wake());
  if (!started.ok) return started;
  const engine = started.value;
  const at = { nowMs: clock.nowMs(), unixMs: clock.unixMs() };
  const mtu = mtuBounds(parts.self);
  const { local, random, peersMax, rekeyAfterMs, checksumElision = "auto" } = parts;
  const core = createTunnelCore({
    local,
    random,
    peersMax,
    checksumElision,
    mtu,
    at,
    ...(rekeyAfterMs ? { rekeyAfterMs } : {}),
    ...(parts.conceal ? { conceal: parts.conceal } : {}),
  });
  const control = createMtuControl({ core, interfaceControl: parts.interfaceControl, self: parts.self });
  const onEvent = (event: TunnelEvent): void => {
    if (event.kind !== "mtu-wanted") return parts.onEvent(event);
    const changed = drive.change(() => control.wish(event.mtu));
    if (changed.ok && changed.value === "changed") parts.onEvent(event);
  };
  const drive = createDrive({ core, engine, clock, scheduler: parts.scheduler, onEvent });
  const { publicKeyAt, counters: handshakes } = core;
  const reader = createCounterReader({ engine, names: parts.counterNames, publicKeyAt, handshakes });
  const takeRecords = createRecordReader({ engine, columns: parts.counterNames.flows, publicKeyAt });
  wake = drive.wake;
  drive.change(() => {}); // Sends what the core wants from the start: its cookie secrets.
  const fixed = { interfaceName: engine.tunName, listenPort: engine.listenPort, shards: engine.shardCount };
  let state: "open" | "closed" = "open";

  return {
    ok: true,
    value: {
      publicKey: parts.publicKey,
      listenPort: fixed.listenPort,
      interfaceName: fixed.interfaceName,
      replacePeers: (peers) => flat(drive.change((now) => core.replacePeers(peers, now))),
      changePeers: (changes) => flat(drive.change((now) => core.changePeers(changes, now))),
      replaceFilter: (rules) => drive.change(() => core.replaceFilter(rules)),
      replaceConceal: (profile) => drive.change((now) => core.replaceConceal(profile, now)),
      resumePeers: (peers) => drive.change((now) => core.resumePeers(peers, now)),
      replaceSelf: (self) => flat(drive.change((now) => control.replaceSelf(self, now))),
      peers: core.peers,
      peer: core.peer,
      counters: () => (state === "closed" ? reader.last() : reader.read()),
      flows: (flowsMax) =>
        state === "closed"
          ? { total: 0, flows: [] }
          : readFlows({ engine, columns: parts.counterNames.flows, publicKeyAt, flowsMax }),
      takeFlowRecords: (wanted) => (state === "closed" ? { records: [], lost: 0 } : takeRecords(wanted)),
      status: () => ({
        ...fixed,
        offloads: state === "closed" ? [] : offloadsOf(engine),
        lanes: state === "closed" ? { ports: [], problem: null } : lanesOf(engine),
        peerCount: core.peerCount(),
      }),
      close() {
        if (state === "closed") return;
        state = "closed";
        drive.stop();
        engine.close();
      },
      injectPanic(shard) {
        try {
          return { ok: true, value: engine.injectPanic(shard) };
        } catch (thrown) {
          const message = thrown instanceof Error ? thrown.message : String(thrown);
          return { ok: false, error: { code: "engine_failed", message } };
        }
      },
    },
  };
}

function offloadsOf(engine: Engine): readonly OffloadState[] {
  return engine.status().offloads.map(({ name, state, reason }) => ({ name, state, reason: reason ?? null }));
}

function lanesOf(engine: Engine): TunnelStatus["lanes"] {
  const { lanePorts = [], laneProblem } = engine.status();
  return { ports: lanePorts, problem: laneProblem ?? null };
}

function flat(result: Result<Result<void, TunnelError>, TunnelError>): Result<void, TunnelError> {
  return result.ok ? result.value : result;
}
