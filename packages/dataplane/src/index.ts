export type {
  ResumePoint,
  CounterTable,
  EngineTuning,
  HandshakeCounters,
  OffloadState,
  PeerChanges,
  PeerPathMtu,
  PeerSession,
  PeerState,
  Tunnel,
  TunnelClock,
  TunnelCounters,
  TunnelError,
  TunnelEvent,
  TunnelFault,
  TunnelOptions,
  TunnelPeer,
  TunnelSelf,
  TunnelStatus,
} from "./tunnel.ts";
export { generateKeyPair, type KeyPair, publicKeyOf } from "./keys.ts";
export { type HostInterface, interfaceAddresses, ping, removeInterface } from "./native-interface.ts";
export { createTunnel } from "./native-tunnel.ts";
