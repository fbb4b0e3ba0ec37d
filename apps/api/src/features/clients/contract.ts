import { z } from "zod";
import { GroupIdSchema, NetworkIdSchema, PeerIdSchema, TimeSchema } from "../../registry/common-schemas.ts";
import { mutation, query } from "../../registry/contract-kit.ts";
import { GROUPS_MAX, PeerNameSchema, PeerSchema } from "../../registry/peer-schemas.ts";

const PublicKeySchema = z
  .string()
  .max(44)
  .describe("WireGuard public key of the client, base64; its private key stays where it was made");
const GatewaySchema = PeerIdSchema.describe("The node that speaks for the client; its agent must have an endpoint");

/** Everything of a configuration file but the private key. */
const ClientConfigSchema = z
  .strictObject({
    name: z.string(),
    addresses: z.array(z.string()).describe("The client's own addresses, in CIDR form."),
    mtu: z.int(),
    gatewayPublicKey: z.string(),
    endpoints: z.array(z.string()).describe("Where the gateway is reached, best first."),
    allowedIps: z.array(z.string()).describe("Ranges that the client sends to its gateway."),
    keepaliveSeconds: z.int(),
  })
  .meta({ id: "ClientConfig" });

export type ClientConfig = z.output<typeof ClientConfigSchema>;

/** Random bytes as long as a private key. */
const PadSchema = z
  .string()
  .regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, "32 bytes in base64")
  .describe("What the private key in the link was combined with: 32 random bytes, base64");

export const clientsContract = {
  create: mutation({
    summary: "Adds a static client: a member that runs plain WireGuard and is reached through a gateway",
    rest: { method: "POST", path: "/networks/{networkId}/clients", status: 201, location: "/peers/{id}" },
    access: { kind: "role", role: "admin", scope: "peers:write" },
    input: z.strictObject({
      networkId: NetworkIdSchema,
      name: PeerNameSchema,
      publicKey: PublicKeySchema,
      gatewayPeerId: GatewaySchema,
      groupIds: z.array(GroupIdSchema).max(GROUPS_MAX).default([]),
      expiresAt: TimeSchema.nullable().optional().describe("Null means never; what the network says when left out."),
    }),
    output: PeerSchema,
  }),
  update: mutation({
    summary: "Gives a static client another gateway or another key; the old one ends at once",
    rest: { method: "PATCH", path: "/peers/{peerId}/client", status: 200, tagged: "peer", ifMatch: "honoured" },
    access: { kind: "role", role: "admin", scope: "peers:write" },
    input: z.strictObject({
      peerId: PeerIdSchema,
      gatewayPeerId: GatewaySchema.optional(),
      publicKey: PublicKeySchema.optional(),
    }),
    output: PeerSchema,
  }),
  config: query({
    summary: "Shows what the configuration of a static client says beside its private key",
    rest: { method: "GET", path: "/peers/{peerId}/client-config", status: 200 },
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    input: z.strictObject({ peerId: PeerIdSchema }),
    output: ClientConfigSchema,
  }),
  createLink: mutation({
    summary: "Makes a link that gives out the configuration of a static client once; an earlier link ends",
    rest: { method: "POST", path: "/peers/{peerId}/client-links", status: 201, location: "/peers/{peerId}" },
    access: { kind: "role", role: "admin", scope: "peers:write" },
    input: z.strictObject({
      peerId: PeerIdSchema,
      pad: PadSchema,
      expiresInSeconds: z.int().min(60).max(604_800).default(86_400),
    }),
    output: z.strictObject({
      peerId: PeerIdSchema,
      link: z.string().describe("To be completed with the combined private key behind a dot, by whoever made it."),
      expiresAt: TimeSchema,
    }),
  }),
  redeemLink: mutation({
    summary:
      "Gives out the configuration of a static client and the pad of its key to whoever holds its link; works once",
    rest: { method: "POST", path: "/client-links/redeem", status: 200 },
    access: { kind: "public" },
    input: z.strictObject({ secret: z.string().regex(/^[A-Za-z0-9_-]{43}$/, "the part behind the # of the link") }),
    output: z.strictObject({ pad: PadSchema, config: ClientConfigSchema }),
  }),
};
