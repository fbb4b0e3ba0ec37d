import { z } from "zod";
import {
  listInput,
  listOutput,
  NetworkIdSchema,
  PeerIdSchema,
  RouteIdSchema,
  TimeSchema,
} from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";

const ConflictSchema = z.strictObject({
  kind: z.enum(["same", "wider", "narrower", "network"]),
  prefix: z.string(),
  routeId: RouteIdSchema.nullable(),
  warning: z.string(),
});

const RouteSchema = z
  .strictObject({
    id: RouteIdSchema,
    networkId: NetworkIdSchema,
    peerId: PeerIdSchema,
    prefix: z.string(),
    description: z.string(),
    state: z.enum(["pending", "approved"]).describe("Only an approved route stands in maps"),
    conflicts: z.array(ConflictSchema).describe("What else has addresses of this range"),
    createdAt: TimeSchema,
  })
  .meta({ id: "Route" });

const PrefixSchema = z.string().max(43).describe("In CIDR form");

export const routesContract = {
  list: query({
    summary: "Lists the ranges behind peers of a network, newest first",
    rest: { method: "GET", path: "/networks/{networkId}/routes", status: 200 },
    access: { kind: "role", role: "viewer", scope: "routes:read" },
    input: z.strictObject({ networkId: NetworkIdSchema, ...listInput }),
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
    summary: "Says that a range lies behind a peer; nothing goes there until somebody approves it",
    rest: { method: "POST", path: "/peers/{peerId}/routes", status: 201, location: "/routes/{id}" },
    access: { kind: "role", role: "operator", scope: "routes:write" },
    input: z.strictObject({
      peerId: PeerIdSchema,
      prefix: PrefixSchema,
      description: z.string().max(1_000).default(""),
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
};
