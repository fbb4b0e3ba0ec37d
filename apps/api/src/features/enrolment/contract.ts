import { z } from "zod";
import {
  EnrolmentKeyIdSchema,
  GroupIdSchema,
  listOutput,
  NetworkIdSchema,
  TimeSchema,
  UserIdSchema,
} from "../../registry/common-schemas.ts";
import { KEY_APPROVALS } from "../../domain/peer-state.ts";
import { GROUPS_MAX } from "../../registry/peer-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";

/** What becomes of peers that join with a key. */
const forPeers = {
  groupIds: z.array(GroupIdSchema).max(GROUPS_MAX).describe("Groups of the peers that join with the key."),
  ephemeralSeconds: z
    .int()
    .min(60)
    .max(31_536_000)
    .nullable()
    .describe("Peers that join with the key are removed when they were away for so long; null: they stay."),
  approval: z
    .enum(KEY_APPROVALS)
    .describe('Who lets the peers in: "network" as the network says, "given" at once, "required" somebody must.'),
};

const NameSchema = z.string().trim().max(63).describe("For people, and for files of configuration; may be empty.");

const EnrolmentKeySchema = z
  .strictObject({
    id: EnrolmentKeyIdSchema,
    networkId: NetworkIdSchema,
    name: NameSchema,
    hint: z.string().describe("Prefix and first four characters; the key itself is shown once, at creation."),
    state: z.enum(["valid", "spent", "expired", "revoked"]),
    uses: z.int(),
    usesMax: z.int().nullable().describe("null: any number while the key is valid."),
    expiresAt: TimeSchema,
    ...forPeers,
    createdAt: TimeSchema,
    createdBy: UserIdSchema.nullable(),
  })
  .meta({ id: "EnrolmentKey" });

export const enrolmentKeysSpec = listSpec({
  name: "enrolmentKeys",
  orders: ["-createdAt", "createdAt", "expiresAt", "-expiresAt"],
  filters: { createdBy: UserIdSchema },
  search: "Part of the hint or name.",
});

export const enrolmentKeysContract = {
  list: query({
    summary: "Lists the enrolment keys of a network, newest first",
    rest: { method: "GET", path: "/networks/{networkId}/enrolment-keys", status: 200 },
    access: { kind: "role", role: "viewer", scope: "keys:read" },
    list: enrolmentKeysSpec,
    input: z.strictObject({ networkId: NetworkIdSchema, ...listFields(enrolmentKeysSpec) }),
    output: listOutput(EnrolmentKeySchema),
  }),
  get: query({
    summary: "Shows one enrolment key",
    rest: { method: "GET", path: "/enrolment-keys/{enrolmentKeyId}", status: 200 },
    access: { kind: "role", role: "viewer", scope: "keys:read" },
    input: z.strictObject({ enrolmentKeyId: EnrolmentKeyIdSchema }),
    output: EnrolmentKeySchema,
  }),
  create: mutation({
    summary: "Creates an enrolment key; the answer shows it once, with the line that joins a host",
    rest: {
      method: "POST",
      path: "/networks/{networkId}/enrolment-keys",
      status: 201,
      location: "/enrolment-keys/{id}",
    },
    access: { kind: "role", role: "admin", scope: "keys:write" },
    input: z.strictObject({
      networkId: NetworkIdSchema,
      name: NameSchema.default(""),
      usesMax: z.int().min(1).max(1_000_000).nullable().default(1),
      expiresInSeconds: z.int().min(60).max(31_536_000).default(3_600),
      groupIds: forPeers.groupIds.default([]),
      ephemeralSeconds: forPeers.ephemeralSeconds.default(null),
      approval: forPeers.approval.default("network"),
    }),
    output: z.strictObject({
      ...EnrolmentKeySchema.shape,
      key: z.string().describe("Secret and server pin; goes into `weft join`."),
      joinLine: z.string().describe("Shell line that installs the agent and joins; asks for root by itself."),
      joinCommand: z.string().describe("`weft join` for a host that has the agent already; needs root."),
    }),
  }),
  revoke: mutation({
    summary: "Revokes an enrolment key; peers that joined with it stay",
    rest: { method: "DELETE", path: "/enrolment-keys/{enrolmentKeyId}", status: 204 },
    access: { kind: "role", role: "admin", scope: "keys:write" },
    input: z.strictObject({ enrolmentKeyId: EnrolmentKeyIdSchema }),
    output: NoOutput,
  }),
};
