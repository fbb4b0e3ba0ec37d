import {
  createTunnel,
  interfaceAddresses,
  ping,
  recordCpuProfile,
  removeInterface,
  type CpuProfileOptions,
  type CpuProfileRecording,
  type HostInterface,
  type Tunnel,
  type TunnelError,
  type TunnelOptions,
} from "@weft/dataplane";
import type { Result } from "@weft/protocol";

import { realRoadHost, type RoadHost } from "../os/road-host.linux.ts";

/** What the daemon needs of the data plane and the system below it. */
export type TunnelSystem = {
  readonly createTunnel: (options: TunnelOptions) => Result<Tunnel, TunnelError>;
  readonly removeInterface: (name: string) => Result<void, TunnelError>;
  readonly interfaces: () => Result<readonly HostInterface[], TunnelError>;
  readonly ping: (address: string, timeoutMs: number) => Promise<Result<number, TunnelError>>;
  /** Routing, forwarding and firewall of this host. */
  readonly roads: RoadHost;
  readonly recordCpuProfile: (options: CpuProfileOptions) => Promise<Result<CpuProfileRecording, TunnelError>>;
};

/** The real one. */
export const realTunnelSystem: TunnelSystem = {
  createTunnel,
  removeInterface,
  interfaces: interfaceAddresses,
  ping,
  roads: realRoadHost,
  recordCpuProfile,
};
