import { z } from "zod";
import { EXPIRING_KINDS, EXPIRY_WARNINGS } from "../../domain/expiration.ts";
import { listOutput, NetworkIdSchema, TimeSchema } from "../../registry/common-schemas.ts";
import { query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";

const ExpirationSchema = z
  .strictObject({
    id: z.string().describe("Id of what ends."),
    kind: z.enum(EXPIRING_KINDS).describe("peer: its membership."),
    name: z.string().describe("What people know it by; never a secret."),
    networkId: NetworkIdSchema.nullable().describe("Null for what belongs to the whole server."),
    expiresAt: TimeSchema,
    warning: z
      .enum(EXPIRY_WARNINGS)
      .describe("day: less than a day is left; week: less than seven; month: less than thirty; none: more."),
  })
  .meta({ id: "Expiration" });

export const expirationsSpec = listSpec({
  name: "expirations",
  rows: "computed",
  orders: ["expiresAt", "-expiresAt"],
  filters: {
    kind: z.enum(EXPIRING_KINDS),
    networkId: NetworkIdSchema.describe("Only what belongs to this network."),
    until: TimeSchema.describe("Only what ends before this moment."),
  },
});

export const expirationsContract = {
  list: query({
    summary:
      "Lists everything that will end by itself, soonest first: memberships, enrolment keys, tokens, invites; of each " +
      "kind only what the caller may list",
    rest: { method: "GET", path: "/expirations", status: 200 },
    access: { kind: "role", role: "viewer", scope: "peers:read" },
    list: expirationsSpec,
    input: z.strictObject(listFields(expirationsSpec)).prefault({}),
    output: listOutput(ExpirationSchema),
  }),
};
