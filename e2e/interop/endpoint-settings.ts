import { z } from "zod";

/** Settings of `weft-endpoint`, as one JSON line. */
export const EndpointSettingsSchema = z.object({
  interfaceName: z.string(),
  mtu: z.number(),
  listenPort: z.number(),
  /** 32 bytes in base64. */
  privateKey: z.string(),
  /** Addresses of the interface in CIDR form. */
  addresses: z.array(z.string()),
  peerPublicKey: z.string(),
  allowedIps: z.array(z.string()),
  /** Absent: this side only answers. */
  peerEndpoint: z.string().optional(),
  /** For long runs: shorter time between handshakes. */
  rekeyAfterSeconds: z.number().optional(),
  /** Keys of AmneziaWG; none = plain WireGuard. */
  disguise: z.record(z.string(), z.string()).default({}),
  /** Rules of the filter: the last one allows everything, those before it match nothing that is sent here. */
  filterRules: z.number().int().min(1).max(100_000).default(1),
  /** Peers that are only known, never heard of. */
  extraPeers: z.array(z.object({ publicKey: z.string(), allowedIp: z.string() })).default([]),
});
export type EndpointSettings = z.infer<typeof EndpointSettingsSchema>;

/** A call that failed; a failure of the engine has the operation "engine" and no error number. */
const EndpointFaultSchema = z.object({ operation: z.string(), severity: z.string(), errno: z.number() });
export type EndpointFault = z.infer<typeof EndpointFaultSchema>;

/** What an endpoint answers to "state". Counters count since it started and never go back. */
export const EndpointStateSchema = z.object({
  event: z.literal("state"),
  newestHandshakeAtMs: z.number(),
  /** Drops and system calls of the engine, by name. */
  totals: z.record(z.string(), z.number()),
  /** The engine's counters of all peers together, by name; ages are left out. */
  peers: z.record(z.string(), z.number()),
  /** Time that the engine's workers spent in each stage, in nanoseconds. */
  stages: z.record(z.string(), z.number()),
  /** The slow path's counters, by name. */
  handshakes: z.record(z.string(), z.number()),
  /** Every fault and failure that the tunnel reported, oldest first. */
  faults: z.array(EndpointFaultSchema),
});
export type EndpointState = z.infer<typeof EndpointStateSchema>;
