import { z } from "zod";
import { listInput, listOutput, NetworkIdSchema, PeerIdSchema, TimeSchema } from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { PeerNameSchema, PeerSchema } from "../../registry/peer-schemas.ts";

export const peersContract = {
  list: query({
    summary: "Lists the peers of a network",
    rest: { method: "GET", path: "/networks/{networkId}/peers", status: 200 },
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    input: z.strictObject({
      networkId: NetworkIdSchema,
      ...listInput,
      q: z.string().max(100).optional().describe("Part of a name or address."),
      sort: z.enum(["name", "-name", "createdAt", "-createdAt"]).default("name"),
    }),
    output: listOutput(PeerSchema),
  }),
  get: query({
    summary: "Shows one peer",
    rest: { method: "GET", path: "/peers/{peerId}", status: 200, tagged: "peer" },
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    input: z.strictObject({ peerId: PeerIdSchema }),
    output: PeerSchema,
  }),
  update: mutation({
    summary: "Changes name or expiry of a peer; a new expiry in the future lets an expired peer back in",
    rest: { method: "PATCH", path: "/peers/{peerId}", status: 200, tagged: "peer", ifMatch: "honoured" },
    access: { kind: "role", role: "operator", scope: "peers:write" },
    input: z.strictObject({
      peerId: PeerIdSchema,
      name: PeerNameSchema.optional(),
      expiresAt: TimeSchema.nullable().optional().describe("Null means never; a moment that has passed means now."),
    }),
    output: PeerSchema,
  }),
  expire: mutation({
    summary: "Ends the membership of a peer now; it keeps its name and addresses",
    rest: { method: "POST", path: "/peers/{peerId}/expire", status: 200, tagged: "peer", ifMatch: "honoured" },
    access: { kind: "role", role: "operator", scope: "peers:write" },
    input: z.strictObject({ peerId: PeerIdSchema }),
    output: PeerSchema,
  }),
  remove: mutation({
    summary: "Removes a peer for good; its agent is told to leave",
    rest: { method: "DELETE", path: "/peers/{peerId}", status: 204, ifMatch: "honoured" },
    access: { kind: "role", role: "admin", scope: "peers:write" },
    input: z.strictObject({ peerId: PeerIdSchema }),
    output: NoOutput,
  }),
  ping: mutation({
    summary: "Lets one peer ping another through the tunnel",
    rest: { method: "POST", path: "/peers/{peerId}/ping", status: 200 },
    access: { kind: "role", role: "operator", scope: "jobs:write" },
    input: z.strictObject({
      peerId: PeerIdSchema,
      targetPeerId: PeerIdSchema,
      count: z.int().min(1).max(20).default(3),
    }),
    output: z.strictObject({
      sent: z.int(),
      received: z.int(),
      rttMicroseconds: z.array(z.number()),
      endpoint: z.string().nullable(),
      path: z.enum(["direct", "none"]),
    }),
  }),
};
