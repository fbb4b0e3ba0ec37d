import { z } from "zod";
import { DIAGNOSIS_STEPS } from "../../domain/diagnosis.ts";
import { PEER_KINDS } from "../../domain/peer.ts";
import { POLICY_PROTOCOLS } from "../../domain/policy-rule.ts";
import { GroupIdSchema, listOutput, NetworkIdSchema, PeerIdSchema, TimeSchema } from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";
import { trafficFields, TrafficSchema } from "../../registry/traffic-schemas.ts";
import { PortSchema, RuleSchema } from "../../registry/policy-schemas.ts";
import { GROUPS_MAX, PeerNameSchema, PeerSchema, PeerStateSchema } from "../../registry/peer-schemas.ts";

export const peersSpec = listSpec({
  name: "peers",
  orders: ["name", "-name", "createdAt", "-createdAt"],
  filters: {
    name: PeerNameSchema,
    groupId: GroupIdSchema.describe("Only peers of this group."),
    state: PeerStateSchema.describe("Only peers in this state."),
    agentVersion: z.string().min(1).max(100).describe("Only peers whose agent has just this version."),
    kind: z.enum(PEER_KINDS).describe("Only nodes, or only static clients."),
  },
  search: "Part of a name or address.",
});

export const reachableSpec = listSpec({
  name: "reachablePeers",
  rows: "computed",
  orders: ["name", "-name"],
  filters: {},
  search: "Part of a name.",
});

export const peersContract = {
  list: query({
    summary: "Lists the peers of a network",
    rest: { method: "GET", path: "/networks/{networkId}/peers", status: 200 },
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    list: peersSpec,
    input: z.strictObject({ networkId: NetworkIdSchema, ...listFields(peersSpec) }),
    output: listOutput(PeerSchema),
  }),
  versions: query({
    summary: "Counts the peers of a network by the version of their agent, and says which are older than the server",
    rest: { method: "GET", path: "/networks/{networkId}/agent-versions", status: 200 },
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    input: z.strictObject({ networkId: NetworkIdSchema }),
    output: z.strictObject({
      serverVersion: z.string(),
      versions: z
        .array(
          z.strictObject({
            agentVersion: z.string(),
            peerCount: z.int(),
            standing: z.enum(["older", "same", "newer", "unknown"]).describe("Compared with the server"),
          }),
        )
        .describe("Those with the most peers first, at most 100"),
    }),
  }),
  get: query({
    summary: "Shows one peer",
    rest: { method: "GET", path: "/peers/{peerId}", status: 200, tagged: "peer" },
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    input: z.strictObject({ peerId: PeerIdSchema }),
    output: PeerSchema,
  }),
  update: mutation({
    summary: "Changes name, groups or expiry of a peer; a new expiry in the future lets an expired peer back in",
    rest: { method: "PATCH", path: "/peers/{peerId}", status: 200, tagged: "peer", ifMatch: "honoured" },
    access: { kind: "role", role: "operator", scope: "peers:write" },
    input: z.strictObject({
      peerId: PeerIdSchema,
      name: PeerNameSchema.optional(),
      groupIds: z.array(GroupIdSchema).max(GROUPS_MAX).optional().describe("All groups of the peer, in any order."),
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
  approve: mutation({
    summary: "Lets a pending peer take part, or one that was rejected",
    rest: { method: "POST", path: "/peers/{peerId}/approve", status: 200, tagged: "peer", ifMatch: "honoured" },
    access: { kind: "role", role: "operator", scope: "peers:write" },
    input: z.strictObject({ peerId: PeerIdSchema }),
    output: PeerSchema,
  }),
  reject: mutation({
    summary: "Refuses a pending peer; its node stays out",
    rest: { method: "POST", path: "/peers/{peerId}/reject", status: 200, tagged: "peer", ifMatch: "honoured" },
    access: { kind: "role", role: "operator", scope: "peers:write" },
    input: z.strictObject({ peerId: PeerIdSchema }),
    output: PeerSchema,
  }),
  disable: mutation({
    summary: "Shuts a peer out until it is enabled; it keeps name, addresses and groups",
    rest: { method: "POST", path: "/peers/{peerId}/disable", status: 200, tagged: "peer", ifMatch: "honoured" },
    access: { kind: "role", role: "operator", scope: "peers:write" },
    input: z.strictObject({ peerId: PeerIdSchema }),
    output: PeerSchema,
  }),
  enable: mutation({
    summary: "Lets a disabled peer back in",
    rest: { method: "POST", path: "/peers/{peerId}/enable", status: 200, tagged: "peer", ifMatch: "honoured" },
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
  move: mutation({
    summary: "Gives a peer another address, live; those of both families follow from the one that is named",
    rest: { method: "POST", path: "/peers/{peerId}/move", status: 200, tagged: "peer", ifMatch: "honoured" },
    access: { kind: "role", role: "admin", scope: "peers:write" },
    input: z.strictObject({ peerId: PeerIdSchema, address: z.string().max(45).describe("IPv4 or IPv6") }),
    output: PeerSchema,
  }),
  reachable: query({
    summary: "Lists the peers with which a peer may begin something, each with the rules that allow it",
    rest: { method: "GET", path: "/peers/{peerId}/reachable", status: 200 },
    access: { kind: "role", role: "viewer", scope: "policies:read" },
    list: reachableSpec,
    input: z.strictObject({ peerId: PeerIdSchema, ...listFields(reachableSpec) }),
    output: listOutput(
      z.strictObject({
        peerId: PeerIdSchema,
        name: z.string(),
        rules: z.array(RuleSchema).describe("In the order in which they are asked"),
      }),
    ),
  }),
  diagnose: query({
    summary: "Says why a peer can or cannot reach another: approval, expiry, policy, route, path, handshake",
    rest: { method: "GET", path: "/peers/{peerId}/diagnosis", status: 200 },
    access: { kind: "role", role: "viewer", scope: "policies:read" },
    input: z.strictObject({
      peerId: PeerIdSchema,
      targetPeerId: PeerIdSchema,
      protocol: z.enum(POLICY_PROTOCOLS).optional(),
      port: PortSchema.optional(),
    }),
    output: z.strictObject({
      verdict: z
        .enum(["reaches", "cannot", "unclear"])
        .describe("unclear: nothing speaks against it, nothing proves it"),
      steps: z.array(
        z.strictObject({
          step: z.enum(DIAGNOSIS_STEPS),
          outcome: z.enum(["good", "bad", "unknown"]),
          reason: z.string(),
        }),
      ),
    }),
  }),
  traffic: query({
    summary: "Shows what a peer moved, step by step, also before the last restart",
    rest: { method: "GET", path: "/peers/{peerId}/traffic", status: 200 },
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    input: z.strictObject({ peerId: PeerIdSchema, ...trafficFields }),
    output: TrafficSchema,
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
