import { z } from "zod";
import {
  GroupIdSchema,
  listOutput,
  NetworkIdSchema,
  PeerIdSchema,
  RouteApproverIdSchema,
  RouteIdSchema,
  TimeSchema,
} from "../../registry/common-schemas.ts";
import { PeerSchema } from "../../registry/peer-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";

const ConflictSchema = z.strictObject({
  kind: z.enum(["same", "wider", "narrower", "network"]),
  prefix: z.string(),
  routeId: RouteIdSchema.nullable(),
  warning: z.string(),
});

const MasqueradeSchema = z
  .boolean()
  .describe("Whether hosts of the range see the router's address in place of the sender's");
const PrioritySchema = z.int().min(0).max(1_000).describe("Among several routes to one range the lowest is preferred");

const RouteSchema = z
  .strictObject({
    id: RouteIdSchema,
    networkId: NetworkIdSchema,
    peerId: PeerIdSchema,
    prefix: z.string(),
    description: z.string(),
    kind: z.enum(["subnet", "exit"]).describe("exit: a way to everything, for the peers that chose it"),
    state: z.enum(["pending", "approved"]).describe("Only an approved route stands in maps"),
    active: z.boolean().describe("Whether maps lead this way; approved routes to one range stand in for each other"),
    router: z.enum(["online", "offline", "unknown"]).describe("Whether the peer of the route is there"),
    masquerade: MasqueradeSchema,
    priority: PrioritySchema,
    conflicts: z.array(ConflictSchema).describe("What else has addresses of this range"),
    createdAt: TimeSchema,
  })
  .meta({ id: "Route" });

const DescriptionSchema = z.string().max(1_000);

const ApproverSchema = z
  .strictObject({
    id: RouteApproverIdSchema,
    networkId: NetworkIdSchema,
    groupId: GroupIdSchema,
    prefix: z.string(),
    createdAt: TimeSchema,
  })
  .meta({ id: "RouteApprover" });

const PrefixSchema = z.string().max(43).describe("In CIDR form");

export const routesSpec = listSpec({
  name: "routes",
  orders: ["-createdAt", "createdAt"],
  filters: { peerId: PeerIdSchema, state: RouteSchema.shape.state },
  search: "Part of a range or description.",
});

export const routesContract = {
  list: query({
    summary: "Lists the ranges behind peers of a network, newest first",
    rest: { method: "GET", path: "/networks/{networkId}/routes", status: 200 },
    access: { kind: "role", role: "viewer", scope: "routes:read" },
    list: routesSpec,
    input: z.strictObject({ networkId: NetworkIdSchema, ...listFields(routesSpec) }),
    output: listOutput(RouteSchema),
  }),
  conflicts: query({
    summary: "Says what a range would share addresses with, before a route to it is made",
    rest: { method: "GET", path: "/networks/{networkId}/routes/conflicts", status: 200 },
    access: { kind: "role", role: "viewer", scope: "routes:read" },
    input: z.strictObject({ networkId: NetworkIdSchema, prefix: PrefixSchema }),
    output: z.strictObject({ conflicts: z.array(ConflictSchema) }),
  }),
  create: mutation({
    summary: "Says that a range lies behind a peer; nothing goes there until somebody approves it, or an approver does",
    rest: { method: "POST", path: "/peers/{peerId}/routes", status: 201, location: "/routes/{id}" },
    access: { kind: "role", role: "operator", scope: "routes:write" },
    input: z.strictObject({
      peerId: PeerIdSchema,
      prefix: PrefixSchema,
      description: DescriptionSchema.default(""),
      masquerade: MasqueradeSchema.default(true),
      priority: PrioritySchema.default(100),
    }),
    output: RouteSchema,
  }),
  update: mutation({
    summary: "Changes how a range behind a peer is reached",
    rest: { method: "PATCH", path: "/routes/{routeId}", status: 200 },
    access: { kind: "role", role: "admin", scope: "routes:write" },
    input: z.strictObject({
      routeId: RouteIdSchema,
      description: DescriptionSchema.optional(),
      masquerade: MasqueradeSchema.optional(),
      priority: PrioritySchema.optional(),
    }),
    output: RouteSchema,
  }),
  approve: mutation({
    summary: "Lets the peers that may reach the route's peer send into its range",
    rest: { method: "POST", path: "/routes/{routeId}/approve", status: 200 },
    access: { kind: "role", role: "admin", scope: "routes:write" },
    input: z.strictObject({ routeId: RouteIdSchema }),
    output: RouteSchema,
  }),
  remove: mutation({
    summary: "Removes a route; nothing goes there any more",
    rest: { method: "DELETE", path: "/routes/{routeId}", status: 204 },
    access: { kind: "role", role: "admin", scope: "routes:write" },
    input: z.strictObject({ routeId: RouteIdSchema }),
    output: NoOutput,
  }),
  chooseExit: mutation({
    summary: "Lets all other traffic of a peer leave through an exit node, or its own way again",
    rest: { method: "POST", path: "/peers/{peerId}/exit-node", status: 200, tagged: "peer", ifMatch: "honoured" },
    access: { kind: "role", role: "operator", scope: "routes:write" },
    input: z.strictObject({
      peerId: PeerIdSchema,
      exitPeerId: PeerIdSchema.nullable().describe("A peer with an approved route to everything; null = none"),
      lan: z
        .enum(["reachable", "blocked"])
        .default("reachable")
        .describe("The host's local networks, beside the tunnel"),
      lost: z
        .enum(["blocked", "direct"])
        .default("blocked")
        .describe("Where traffic goes while the exit node does not answer: nowhere, or past the tunnel"),
    }),
    output: PeerSchema,
  }),
};

export const routeApproversSpec = listSpec({
  name: "routeApprovers",
  orders: ["-createdAt", "createdAt"],
  filters: {},
  search: "Part of a range.",
});

export const routeApproversContract = {
  list: query({
    summary: "Lists the ranges whose routes need nobody's approval, newest first",
    rest: { method: "GET", path: "/networks/{networkId}/route-approvers", status: 200 },
    access: { kind: "role", role: "viewer", scope: "routes:read" },
    list: routeApproversSpec,
    input: z.strictObject({ networkId: NetworkIdSchema, ...listFields(routeApproversSpec) }),
    output: listOutput(ApproverSchema),
  }),
  create: mutation({
    summary: "Approves routes to a range, or to parts of it, as soon as a peer of a group gets one",
    rest: {
      method: "POST",
      path: "/networks/{networkId}/route-approvers",
      status: 201,
      location: "/route-approvers/{id}",
    },
    access: { kind: "role", role: "admin", scope: "routes:write" },
    input: z.strictObject({ networkId: NetworkIdSchema, groupId: GroupIdSchema, prefix: PrefixSchema }),
    output: ApproverSchema,
  }),
  remove: mutation({
    summary: "Removes an approver; what it approved stays approved",
    rest: { method: "DELETE", path: "/route-approvers/{routeApproverId}", status: 204 },
    access: { kind: "role", role: "admin", scope: "routes:write" },
    input: z.strictObject({ routeApproverId: RouteApproverIdSchema }),
    output: NoOutput,
  }),
};
