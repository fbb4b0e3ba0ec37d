import { CONCEAL_PRESETS } from "@weft/protocol";
import { z } from "zod";
import {
  ConcealProfileIdSchema,
  GroupIdSchema,
  listOutput,
  NetworkIdSchema,
  PeerIdSchema,
  TimeSchema,
} from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";
import { NetworkNameSchema } from "../../registry/network-schemas.ts";

const ProfileSchema = z
  .strictObject({
    id: ConcealProfileIdSchema,
    networkId: NetworkIdSchema,
    name: z.string(),
    description: z.string(),
    version: z.int().describe("The newest one"),
    createdAt: TimeSchema,
  })
  .meta({ id: "ConcealProfile" });

const VersionSchema = z.strictObject({
  version: z.int(),
  origin: z.string().describe("A preset, or `file`"),
  createdAt: TimeSchema,
});

const DetailSchema = z.strictObject({
  ...ProfileSchema.shape,
  keys: z
    .record(z.string(), z.string())
    .describe("What the newest version sets, under AmneziaWG's names; the header key is not shown"),
  advice: z.array(z.string()).describe("What is allowed, and unwise"),
  innerMtu: z.int().describe("Longest inner packet on a path of 1,500 bytes over IPv6"),
  versions: z.array(VersionSchema).describe("Newest first"),
});

const ChoiceSchema = z
  .strictObject({ profileId: ConcealProfileIdSchema, name: z.string(), version: z.int() })
  .describe("null: plain WireGuard")
  .nullable();

const PlanSchema = z.strictObject({
  networkId: NetworkIdSchema,
  base: ChoiceSchema,
  next: ChoiceSchema,
  groupIds: z.array(GroupIdSchema).describe("Groups that speak `next`; empty: everybody"),
  state: z
    .enum(["none", "watched", "kept", "rolled-back"])
    .describe(
      "Handshakes are watched before a profile is kept; when they stop succeeding everybody goes back to `base`",
    ),
  startedAt: TimeSchema.nullable(),
  watchSeconds: z.int().nullable(),
  reason: z.string().nullable().describe("Why it was rolled back"),
});

const NodeSchema = z.strictObject({
  peerId: PeerIdSchema,
  name: z.string(),
  wanted: ChoiceSchema,
  state: z
    .enum(["runs", "pending", "unable", "offline"])
    .describe("unable: its agent takes no profile from the server, being too old or set by WEFT_CONCEAL"),
});

export const profilesSpec = listSpec({ name: "concealProfiles", orders: ["name", "-name"], filters: {} });
export const nodesSpec = listSpec({ name: "concealNodes", orders: ["name", "-name"], filters: {} });

const source = {
  preset: z.enum(CONCEAL_PRESETS).optional().describe("Everything else is drawn: no two networks look alike"),
  conf: z
    .string()
    .max(400_000)
    .optional()
    .describe("A .conf file of AmneziaWG instead; only its keys that disguise count"),
};

export const concealContract = {
  list: query({
    summary: "Lists how datagrams may be disguised in a network",
    rest: { method: "GET", path: "/networks/{networkId}/conceal-profiles", status: 200 },
    access: { kind: "role", role: "viewer", scope: "networks:read" },
    list: profilesSpec,
    input: z.strictObject({ networkId: NetworkIdSchema, ...listFields(profilesSpec) }),
    output: listOutput(ProfileSchema),
  }),
  get: query({
    summary: "Shows one profile with its versions",
    rest: { method: "GET", path: "/conceal-profiles/{concealProfileId}", status: 200, tagged: "concealProfile" },
    access: { kind: "role", role: "viewer", scope: "networks:read" },
    input: z.strictObject({ concealProfileId: ConcealProfileIdSchema }),
    output: DetailSchema,
  }),
  create: mutation({
    summary: "Creates a profile from a preset or a file; nobody uses it before it is rolled out",
    rest: {
      method: "POST",
      path: "/networks/{networkId}/conceal-profiles",
      status: 201,
      location: "/conceal-profiles/{id}",
      tagged: "concealProfile",
    },
    access: { kind: "role", role: "admin", scope: "networks:write" },
    input: z.strictObject({
      networkId: NetworkIdSchema,
      name: NetworkNameSchema,
      description: z.string().max(1_000).default(""),
      ...source,
    }),
    output: DetailSchema,
  }),
  update: mutation({
    summary: "Renames a profile, or draws or reads a new version of it; what is in use stays until that is rolled out",
    rest: {
      method: "PATCH",
      path: "/conceal-profiles/{concealProfileId}",
      status: 200,
      tagged: "concealProfile",
      ifMatch: "honoured",
    },
    access: { kind: "role", role: "admin", scope: "networks:write" },
    input: z.strictObject({
      concealProfileId: ConcealProfileIdSchema,
      name: NetworkNameSchema.optional(),
      description: z.string().max(1_000).optional(),
      ...source,
    }),
    output: DetailSchema,
  }),
  remove: mutation({
    summary: "Removes a profile that no node is to use",
    rest: { method: "DELETE", path: "/conceal-profiles/{concealProfileId}", status: 204, ifMatch: "honoured" },
    access: { kind: "role", role: "admin", scope: "networks:write" },
    input: z.strictObject({ concealProfileId: ConcealProfileIdSchema }),
    output: NoOutput,
  }),
  export: query({
    summary: "Writes a version as a .conf file of AmneziaWG, its header key included",
    rest: { method: "GET", path: "/conceal-profiles/{concealProfileId}/conf", status: 200 },
    access: { kind: "role", role: "admin", scope: "networks:read" },
    input: z.strictObject({
      concealProfileId: ConcealProfileIdSchema,
      version: z.int().min(1).optional().describe("Left out: the newest"),
    }),
    output: z.strictObject({ version: z.int(), conf: z.string() }),
  }),
  plan: query({
    summary: "Shows which profile a network uses and how far a new one got",
    rest: { method: "GET", path: "/networks/{networkId}/conceal", status: 200, tagged: "concealPlan" },
    access: { kind: "role", role: "viewer", scope: "networks:read" },
    input: z.strictObject({ networkId: NetworkIdSchema }),
    output: PlanSchema,
  }),
  nodes: query({
    summary: "Says of each node which profile it is to use, and whether it does",
    rest: { method: "GET", path: "/networks/{networkId}/conceal/nodes", status: 200 },
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    list: nodesSpec,
    input: z.strictObject({ networkId: NetworkIdSchema, ...listFields(nodesSpec) }),
    output: listOutput(NodeSchema),
  }),
  rollOut: mutation({
    summary:
      "Gives a version to the nodes of some groups, or to all, and goes back by itself when handshakes stop succeeding",
    rest: {
      method: "PUT",
      path: "/networks/{networkId}/conceal",
      status: 200,
      tagged: "concealPlan",
      ifMatch: "honoured",
    },
    access: { kind: "role", role: "admin", scope: "networks:write" },
    input: z.strictObject({
      networkId: NetworkIdSchema,
      profileId: ConcealProfileIdSchema.nullable().describe("null: back to plain WireGuard"),
      version: z.int().min(1).optional().describe("Left out: the newest"),
      groupIds: z.array(GroupIdSchema).max(50).default([]).describe("Empty: everybody"),
      separation: z
        .enum(["refuse", "accept"])
        .default("refuse")
        .describe("What to do when nodes that may talk would not understand each other"),
      watchSeconds: z.int().min(60).max(86_400).default(180),
    }),
    output: PlanSchema,
  }),
  rollBack: mutation({
    summary: "Takes all nodes back to what they used before",
    rest: { method: "POST", path: "/networks/{networkId}/conceal/roll-back", status: 200, tagged: "concealPlan" },
    access: { kind: "role", role: "admin", scope: "networks:write" },
    input: z.strictObject({ networkId: NetworkIdSchema }),
    output: PlanSchema,
  }),
};
