export { makePacket } from "./inner-packet.ts";
export {
  createInMemoryTunnel,
  type InMemoryTunnel,
  type InMemoryTunnelOptions,
  type TunnelWorld,
  type VirtualWorld,
} from "./in-memory-tunnel.ts";
export { createVirtualClock, type VirtualClock } from "./virtual-clock.ts";
export { createVirtualNetwork, type Datagram, type VirtualNetwork } from "./virtual-network.ts";
