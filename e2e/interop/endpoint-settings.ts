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
  /** Peers that are only known, never heard of. */
  extraPeers: z.array(z.object({ publicKey: z.string(), allowedIp: z.string() })).default([]),
});
export type EndpointSettings = z.infer<typeof EndpointSettingsSchema>;
