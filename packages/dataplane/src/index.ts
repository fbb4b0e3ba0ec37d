export type {
  FlowList,
  FlowState,
  RecordedFlow,
  ResumePoint,
  CounterTable,
  EngineTuning,
  HandshakeCounters,
  OffloadState,
  PeerChanges,
  PeerProfile,
  PeerPathMtu,
  PeerSession,
  PeerState,
  TakenFlows,
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
export { type CpuProfile, type CpuStack, JAVASCRIPT_THREAD } from "./profile/cpu-profile.ts";
export { foldedStacks } from "./profile/folded-stacks.ts";
export { pprofBytes } from "./profile/pprof-bytes.ts";
export { type CpuProfileOptions, type CpuProfileRecording, recordCpuProfile } from "./profile/record-cpu-profile.ts";
export {
  chooseCipher,
  profileCapabilities,
  type CipherChoice,
  type CipherSpeed,
  type CipherWish,
} from "./cipher-choice.ts";
export { chooseLanes, type LaneChoice, type LaneWish } from "./lane-choice.ts";
export { generateKeyPair, type KeyPair, publicKeyOf } from "./keys.ts";
export { type HostInterface, interfaceAddresses, measureCiphers, ping, removeInterface } from "./native-interface.ts";
export { createTunnel } from "./native-tunnel.ts";
