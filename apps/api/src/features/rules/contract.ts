import { z } from "zod";
import { PORT_RANGES_MAX } from "@weft/protocol";
import { POLICY_PROTOCOLS } from "../../domain/policy-rule.ts";
import { listInput, listOutput, NetworkIdSchema, RuleIdSchema, TimeSchema } from "../../registry/common-schemas.ts";
import { mutation, NoOutput, query } from "../../registry/contract-kit.ts";

const PortSchema = z.int().min(0).max(65_535);
const ByteSchema = z.int().min(0).max(255);

const conditions = {
  name: z.string().max(100).describe("For people"),
  description: z.string().max(1_000),
  action: z.enum(["allow", "deny"]),
  state: z.enum(["on", "off"]).describe("A rule that is off is kept and ignored"),
  protocol: z.enum(POLICY_PROTOCOLS).nullable().describe("`null` = any"),
  ports: z
    .array(z.strictObject({ low: PortSchema, high: PortSchema }))
    .min(1)
    .max(PORT_RANGES_MAX)
    .nullable()
    .describe("Destination ports of tcp or udp, both ends included; `null` = any"),
  icmpType: ByteSchema.nullable().describe("`null` = any"),
  icmpCode: ByteSchema.nullable().describe("`null` = any"),
};

const RuleSchema = z
  .strictObject({
    id: RuleIdSchema,
    networkId: NetworkIdSchema,
    kind: z.enum(["all-to-all"]),
    ...conditions,
    number: z.int().min(0).describe("What nodes call the rule, as in `weft flows`; stays with the rule"),
    place: z.int().describe("Lower is asked first; the first rule that matches decides"),
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
    input: z.strictObject({
      networkId: NetworkIdSchema,
      kind: z.enum(["all-to-all"]),
      name: conditions.name.default(""),
      description: conditions.description.default(""),
      action: conditions.action.default("allow"),
      state: conditions.state.default("on"),
      protocol: conditions.protocol.default(null),
      ports: conditions.ports.default(null),
      icmpType: conditions.icmpType.default(null),
      icmpCode: conditions.icmpCode.default(null),
      position: z.enum(["first", "last"]).default("last").describe("Before or behind the rules that are there"),
    }),
    output: RuleSchema,
  }),
  update: mutation({
    summary: "Turns a rule on or off, or changes its name and description",
    rest: { method: "PATCH", path: "/rules/{ruleId}", status: 200 },
    access: { kind: "role", role: "admin", scope: "policies:write" },
    input: z.strictObject({
      ruleId: RuleIdSchema,
      state: conditions.state.optional(),
      name: conditions.name.optional(),
      description: conditions.description.optional(),
    }),
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
