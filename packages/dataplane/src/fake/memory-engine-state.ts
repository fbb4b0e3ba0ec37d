import type { ConcealProfile, Endpoint } from "@weft/protocol";
import type { EngineEvent, Silence, WireEndpoint } from "../core/engine-port.ts";
import type { LocalIdentity } from "../core/handshake/identity.ts";
import type { Scheduler } from "../io/drive.ts";
import type { TunnelClock } from "../tunnel.ts";
import type { MemoryFilter } from "./memory-filter.ts";
import type { MemoryPeer, MemorySession } from "./memory-peer.ts";
import type { VirtualNetwork } from "./virtual-network.ts";

export type InMemoryEngineInput = {
  readonly local: LocalIdentity;
  readonly network: Pick<VirtualNetwork, "attach" | "send">;
  readonly clock: TunnelClock;
  readonly scheduler: Scheduler;
  readonly endpoint: Endpoint;
  readonly interfaceName: string;
  /** An inner packet has come out of the tunnel. */
  readonly deliver: (packet: Uint8Array) => void;
  readonly wake: () => void;
};

/** Shared by everything inside one in-memory engine. */
export type MemoryEngineState = {
  readonly input: InMemoryEngineInput;
  readonly peers: Map<number, MemoryPeer>;
  readonly sessions: Map<number, MemorySession>;
  readonly emit: (event: EngineEvent) => void;
  readonly transmit: (to: WireEndpoint, payload: Uint8Array) => void;
  readonly filter: MemoryFilter;
  cookieSecrets: readonly Uint8Array[];
  conceal: ConcealProfile;
  silence: Silence;
  load: "normal" | "high";
  /** Packets dropped for whatever reason. */
  dropped: bigint;
};
