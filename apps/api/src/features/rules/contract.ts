import { z } from "zod";
import { listInput, listOutput, NetworkIdSchema, RuleIdSchema, TimeSchema } from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";

const RuleSchema = z
  .strictObject({
    id: RuleIdSchema,
    networkId: NetworkIdSchema,
    kind: z.enum(["all-to-all"]),
    createdAt: TimeSchema,
  })
  .meta({ id: "Rule" });

export const rulesContract = {
  list: query({
    summary: "Lists the rules of a network; what no rule allows is denied",
    rest: { method: "GET", path: "/networks/{networkId}/rules", status: 200 },
    access: { kind: "role", role: "viewer", scope: "policies:read" },
    input: z.strictObject({ networkId: NetworkIdSchema, ...listInput }),
    output: listOutput(RuleSchema),
  }),
  create: mutation({
    summary: "Adds a rule",
    rest: { method: "POST", path: "/networks/{networkId}/rules", status: 201, location: "/rules/{id}" },
    access: { kind: "role", role: "admin", scope: "policies:write" },
    input: z.strictObject({ networkId: NetworkIdSchema, kind: z.enum(["all-to-all"]) }),
    output: RuleSchema,
  }),
  remove: mutation({
    summary: "Removes a rule",
    rest: { method: "DELETE", path: "/rules/{ruleId}", status: 204 },
    access: { kind: "role", role: "admin", scope: "policies:write" },
    input: z.strictObject({ ruleId: RuleIdSchema }),
    output: NoOutput,
  }),
};
