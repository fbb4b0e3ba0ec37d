import { z } from "zod";
import { listOutput, NetworkIdSchema } from "../../registry/common-schemas.ts";
import { mutation, NoInput, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";
import {
  FlowSettingSchemas,
  LifecycleSchemas,
  NetworkNameSchema,
  NetworkSchema,
  ProfileFallbackSchema,
  RangesSchema,
} from "../../registry/network-schemas.ts";
import { trafficFields, TrafficSchema } from "../../registry/traffic-schemas.ts";

export const networksSpec = listSpec({
  name: "networks",
  orders: ["name", "-name", "createdAt", "-createdAt"],
  filters: { name: NetworkNameSchema.describe("The whole name; upper and lower case are the same.") },
  search: "Part of a name.",
});

export const networksContract = {
  list: query({
    summary: "Lists networks",
    rest: { method: "GET", path: "/networks", status: 200 },
    access: { kind: "role", role: "viewer", scope: "networks:read", members: "too" },
    list: networksSpec,
    input: z.strictObject(listFields(networksSpec)).prefault({}),
    output: listOutput(NetworkSchema),
  }),
  propose: query({
    summary: "Proposes address ranges that no network of this server uses",
    rest: { method: "GET", path: "/networks/proposal", status: 200 },
    access: { kind: "role", role: "viewer", scope: "networks:read" },
    input: NoInput,
    output: z.strictObject({ ipv4Range: z.string(), ipv6Range: z.string() }),
  }),
  get: query({
    summary: "Shows one network",
    rest: { method: "GET", path: "/networks/{networkId}", status: 200, tagged: "network" },
    access: { kind: "role", role: "viewer", scope: "networks:read" },
    input: z.strictObject({ networkId: NetworkIdSchema }),
    output: NetworkSchema,
  }),
  traffic: query({
    summary: "Shows what the peers of a network moved together, step by step; those that are gone count, too",
    rest: { method: "GET", path: "/networks/{networkId}/traffic", status: 200 },
    access: { kind: "role", role: "viewer", scope: "networks:read" },
    input: z.strictObject({ networkId: NetworkIdSchema, ...trafficFields }),
    output: TrafficSchema,
  }),
  create: mutation({
    summary:
      "Creates a network; ranges that are left out are proposed ones. No rule exists at first: nothing is allowed",
    rest: { method: "POST", path: "/networks", status: 201, location: "/networks/{id}", tagged: "network" },
    access: { kind: "role", role: "admin", scope: "networks:write" },
    input: z.strictObject({
      name: NetworkNameSchema,
      ipv4Range: RangesSchema.ipv4Range.optional(),
      ipv6Range: RangesSchema.ipv6Range.optional(),
    }),
    output: NetworkSchema,
  }),
  update: mutation({
    summary:
      "Changes the settings of a network: its name, what happens to peers by itself, what nodes do without a common profile, which flows they report",
    rest: { method: "PATCH", path: "/networks/{networkId}", status: 200, tagged: "network", ifMatch: "required" },
    access: { kind: "role", role: "admin", scope: "networks:write" },
    input: z.strictObject({
      networkId: NetworkIdSchema,
      name: NetworkNameSchema.optional(),
      profileFallback: ProfileFallbackSchema.optional(),
      approval: LifecycleSchemas.approval.optional(),
      membershipSeconds: LifecycleSchemas.membershipSeconds.optional(),
      idleRemovalSeconds: LifecycleSchemas.idleRemovalSeconds.optional(),
      flowSampling: FlowSettingSchemas.flowSampling.optional(),
      flowKeepHours: FlowSettingSchemas.flowKeepHours.optional(),
    }),
    output: NetworkSchema,
  }),
  remove: mutation({
    summary: "Removes a network with its peers, keys and rules; every agent is told to leave",
    rest: { method: "DELETE", path: "/networks/{networkId}", status: 204, ifMatch: "honoured" },
    access: { kind: "role", role: "owner", scope: "networks:write" },
    input: z.strictObject({ networkId: NetworkIdSchema }),
    output: NoOutput,
  }),
};
