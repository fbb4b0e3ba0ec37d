import { ok, parseEndpoint } from "@weft/protocol";
import { mustBe } from "@weft/protocol/testing";
import type { HostInterface, TunnelEvent, TunnelOptions } from "@weft/dataplane";
import {
  createInMemoryTunnel,
  createVirtualClock,
  createVirtualNetwork,
  type InMemoryTunnel,
} from "@weft/dataplane/testing";
import { randomBytes } from "node:crypto";

import type { TunnelSystem } from "../daemon/tunnel-system.ts";
import type { Timers } from "../stream/timers.ts";

/** A data plane in memory: the real core over an engine in memory, and pretended interfaces. */
export type MemorySystem = TunnelSystem & {
  /** Every tunnel ever made, oldest first. */
  readonly made: { readonly options: TunnelOptions; readonly inner: InMemoryTunnel; closed: boolean }[];
  readonly removedInterfaces: string[];
  /** The next creations fail with this, as often as said. */
  readonly failNext: {
    error: Extract<ReturnType<TunnelSystem["createTunnel"]>, { ok: false }>["error"] | null;
    times: number;
  };
  hostInterfaces: readonly HostInterface[];
  readonly emit: (event: TunnelEvent) => void;
  readonly advance: (durationMs: number) => void;
};

export function createMemorySystem(): MemorySystem {
  const time = createVirtualClock(1_700_000_000_000);
  const network = createVirtualNetwork(time.scheduler, 1);
  const system: MemorySystem = {
    made: [],
    removedInterfaces: [],
    failNext: { error: null, times: 0 },
    hostInterfaces: [{ name: "eth0", index: 2, mtu: 1500, up: true, addresses: ["192.0.2.7/24"] }],
    createTunnel(options) {
      if (system.failNext.error && system.failNext.times > 0) {
        system.failNext.times -= 1;
        return { ok: false, error: system.failNext.error };
      }
      const inner = createInMemoryTunnel({
        world: { time, network },
        privateKey: options.privateKey,
        endpoint: mustBe(parseEndpoint(`192.0.2.7:${options.listenPort}`)),
        addresses: options.addresses,
        random: (length) => Uint8Array.from(randomBytes(length)),
      });
      const record = { options, inner, closed: false };
      system.made.push(record);
      return ok({
        ...inner.tunnel,
        close() {
          record.closed = true;
          inner.tunnel.close();
        },
      });
    },
    removeInterface(name) {
      system.removedInterfaces.push(name);
      return ok(undefined);
    },
    interfaces: () => ok(system.hostInterfaces),
    ping: (address) =>
      Promise.resolve(
        address.startsWith("10.77.")
          ? ok(1234)
          : { ok: false, error: { code: "interface_failed", message: "no reply", errno: null } },
      ),
    roads: {
      run: () => Promise.resolve(ok("")),
      readSetting: () => null,
      writeSetting: () => ok(undefined),
      listSettings: () => [],
      bootId: () => "",
    },
    recordCpuProfile: (options) =>
      Promise.resolve(
        ok({
          stop: () =>
            Promise.resolve(
              ok({
                method: "user",
                reason: "in memory",
                startedAtMs: 0,
                durationMs: 1_000,
                frequencyHz: options.frequencyHz,
                lost: 0,
                stacks: [
                  { thread: "weft-shard-0", frames: ["run", "seal"], count: 7 },
                  { thread: "javascript", frames: ["tick"], count: 2 },
                ],
              }),
            ),
        }),
      ),
    emit: (event) => system.made.at(-1)?.options.onEvent(event),
    advance: time.advance,
  };
  return system;
}

/** Timers that a test moves by hand. */
export function createVirtualTimers(): { readonly timers: Timers; readonly advance: (durationMs: number) => void } {
  const time = createVirtualClock(0);
  return {
    timers: { nowMs: time.clock.nowMs, after: (delayMs, run) => time.scheduler.after(delayMs, run) },
    advance: time.advance,
  };
}
