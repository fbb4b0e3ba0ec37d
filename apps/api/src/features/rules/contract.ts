import { z } from "zod";
import { CounterSchema, listOutput, NetworkIdSchema, RuleIdSchema, TimeSchema } from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";
import { newRuleFields, ruleFields, RuleSchema } from "../../registry/policy-schemas.ts";

export const rulesSpec = listSpec({
  name: "rules",
  // The first is the order in which nodes ask them.
  orders: ["place,createdAt", "-place,-createdAt"],
  filters: { state: ruleFields.state, action: ruleFields.action },
  search: "Part of a name or description.",
});

const RuleHitsSchema = z
  .strictObject({
    ruleId: RuleIdSchema,
    packets: CounterSchema.describe("Packets that passed under it, both ways, answers included."),
    bytes: CounterSchema,
    drops: CounterSchema.describe("Packets that it dropped."),
    flows: CounterSchema.describe("Flows that it let begin, or dropped from their first packet on."),
    lastHitAt: TimeSchema.nullable().describe("When a packet met it last."),
  })
  .meta({ id: "RuleHits" });

export const rulesContract = {
  list: query({
    summary: "Lists the rules of a network; what no rule allows is denied",
    rest: { method: "GET", path: "/networks/{networkId}/rules", status: 200 },
    access: { kind: "role", role: "viewer", scope: "policies:read" },
    list: rulesSpec,
    input: z.strictObject({ networkId: NetworkIdSchema, ...listFields(rulesSpec) }),
    output: listOutput(RuleSchema),
  }),
  hits: query({
    summary:
      "Shows what met each rule on all nodes together, also before they started again; rules nothing ever met are left out",
    rest: { method: "GET", path: "/networks/{networkId}/rule-hits", status: 200 },
    access: { kind: "role", role: "viewer", scope: "policies:read" },
    input: z.strictObject({ networkId: NetworkIdSchema }),
    output: z.strictObject({ items: z.array(RuleHitsSchema) }),
  }),
  create: mutation({
    summary: "Adds a rule",
    rest: { method: "POST", path: "/networks/{networkId}/rules", status: 201, location: "/rules/{id}" },
    access: { kind: "role", role: "admin", scope: "policies:write" },
    input: z.strictObject({
      networkId: NetworkIdSchema,
      kind: RuleSchema.shape.kind.optional().describe("Follows from source and destination; need not be said"),
      ...newRuleFields,
      position: z.enum(["first", "last"]).default("last").describe("Before or behind the rules that are there"),
    }),
    output: RuleSchema,
  }),
  update: mutation({
    summary: "Changes a rule; what is left out stays. What nodes call it stays, too, and with it its counts",
    rest: { method: "PATCH", path: "/rules/{ruleId}", status: 200 },
    access: { kind: "role", role: "admin", scope: "policies:write" },
    input: z.strictObject({ ruleId: RuleIdSchema, ...z.strictObject(ruleFields).partial().shape }),
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
