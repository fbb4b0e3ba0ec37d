import { type ConcealProfile, type Endpoint, ok, type Prefix, type Secret } from "@weft/protocol";
import { createLocalIdentity } from "../core/handshake/identity.ts";
import { createEngineTunnel } from "../engine-tunnel.ts";
import { createInterfaceControl } from "../io/interface-control.ts";
import { createNodePrimitives } from "../io/node-primitives.ts";
import { publicKeyOf } from "../keys.ts";
import type { Tunnel, TunnelEvent } from "../tunnel.ts";
import { createInMemoryEngine, type InMemoryEngine, IN_MEMORY_COUNTERS } from "./in-memory-engine.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import type { VirtualNetwork } from "./virtual-network.ts";

/** A place where in-memory tunnels live: one clock, one network. */
export type VirtualWorld = { readonly time: VirtualClock; readonly network: VirtualNetwork };

/** What a tunnel needs of its world; a real clock and a real network fit too. */
export type TunnelWorld = {
  readonly time: Pick<VirtualClock, "clock" | "scheduler">;
  readonly network: Pick<VirtualNetwork, "attach" | "send">;
};

export type InMemoryTunnelOptions = {
  readonly world: TunnelWorld;
  readonly privateKey: Secret<Uint8Array>;
  readonly endpoint: Endpoint;
  readonly addresses: readonly Prefix[];
  readonly random: (byteCount: number) => Uint8Array;
  readonly peersMax?: number;
  readonly mtuMax?: number;
  readonly conceal?: ConcealProfile;
};

/** A tunnel and the ends that a real one keeps in the kernel. */
export type InMemoryTunnel = {
  readonly tunnel: Tunnel;
  readonly engine: Pick<InMemoryEngine, "sendPacket" | "setLoad" | "moveTo">;
  /** Inner packets that came out, oldest first. */
  readonly received: readonly Uint8Array[];
  readonly events: readonly TunnelEvent[];
  /** Prefixes set on the pretended interface at present. */
  readonly interfacePrefixes: () => readonly Prefix[];
  /** MTU of the pretended interface. */
  readonly interfaceMtu: () => number;
};

/** The real core over an engine in memory; throws only for mistakes of the test. */
export function createInMemoryTunnel(options: InMemoryTunnelOptions): InMemoryTunnel {
  const { world } = options;
  const { clock, scheduler } = world.time;
  const local = createLocalIdentity(createNodePrimitives(), options.privateKey.expose());
  const received: Uint8Array[] = [];
  const events: TunnelEvent[] = [];
  const engines: InMemoryEngine[] = [];
  const held = new Set<Prefix>();
  const self = {
    addresses: options.addresses,
    routes: [],
    mtu: 1_420,
    ...(options.mtuMax ? { mtuMax: options.mtuMax } : {}),
  };
  let mtu = 0;
  const interfaceControl = createInterfaceControl({
    bringUp: (wanted) => {
      mtu = wanted;
    },
    addAddress: (prefix) => void held.add(prefix),
    removeAddress: (prefix) => void held.delete(prefix),
    addRoute: (prefix) => void held.add(prefix),
    removeRoute: (prefix) => void held.delete(prefix),
    explain: () => "harmless",
  });
  const made = createEngineTunnel({
    publicKey: publicKeyOf(options.privateKey),
    local,
    random: options.random,
    clock,
    scheduler,
    peersMax: options.peersMax ?? 64,
    interfaceControl,
    self,
    ...(options.conceal ? { conceal: options.conceal } : {}),
    counterNames: IN_MEMORY_COUNTERS,
    onEvent: (event) => void events.push(event),
    startEngine(wake) {
      const engine = createInMemoryEngine({
        local,
        network: world.network,
        clock,
        scheduler,
        endpoint: options.endpoint,
        interfaceName: "memory0",
        deliver: (packet) => void received.push(packet),
        wake,
      });
      engines.push(engine);
      return ok(engine);
    },
  });
  const [engine] = engines;
  if (!made.ok || !engine) throw new Error("an engine in memory always starts");
  interfaceControl.replaceSelf(self);
  return { tunnel: made.value, engine, received, events, interfacePrefixes: () => [...held], interfaceMtu: () => mtu };
}
