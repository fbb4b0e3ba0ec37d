import { z } from "zod";
import { groupIds, peerIds, PORT_RANGES_MAX } from "@weft/protocol";
import { ALL, POLICY_PROTOCOLS, RULE_DIRECTIONS } from "../domain/policy-rule.ts";
import type { Selector } from "../domain/policy-rule.ts";
import type { PolicyTest } from "../domain/policy-test.ts";
import { GroupIdSchema, NetworkIdSchema, PeerIdSchema, RuleIdSchema, TimeSchema } from "./common-schemas.ts";

/** A policy has at most this many rules. */
export const RULES_MAX = 2_000;

export const PortSchema = z.int().min(0).max(65_535);
const ByteSchema = z.int().min(0).max(255);

/** Whom one side of a rule speaks about. */
export const SelectorSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("all") }),
  z.strictObject({ kind: z.literal("group"), id: GroupIdSchema }),
  z.strictObject({ kind: z.literal("peer"), id: PeerIdSchema }),
]);

/** What a rule says. */
export const ruleFields = {
  name: z.string().max(100).describe("For people"),
  description: z.string().max(1_000),
  action: z.enum(["allow", "deny"]),
  state: z.enum(["on", "off"]).describe("A rule that is off is kept and ignored"),
  source: SelectorSchema.describe("Who begins"),
  destination: SelectorSchema.describe("With whom"),
  direction: z
    .enum(RULE_DIRECTIONS)
    .describe("one-way: only the source may begin, answers pass; both-ways: the destination may, too"),
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

/** What a new rule may leave out, with what it means then. */
export const newRuleFields = {
  name: ruleFields.name.default(""),
  description: ruleFields.description.default(""),
  action: ruleFields.action.default("allow"),
  state: ruleFields.state.default("on"),
  source: ruleFields.source.default({ kind: "all" }),
  destination: ruleFields.destination.default({ kind: "all" }),
  direction: ruleFields.direction.default("both-ways"),
  protocol: ruleFields.protocol.default(null),
  ports: ruleFields.ports.default(null),
  icmpType: ruleFields.icmpType.default(null),
  icmpCode: ruleFields.icmpCode.default(null),
};

export const RuleSchema = z
  .strictObject({
    id: RuleIdSchema,
    networkId: NetworkIdSchema,
    kind: z.enum(["all-to-all", "selected"]).describe("all-to-all when neither side says who"),
    ...ruleFields,
    number: z.int().min(0).describe("What nodes call the rule, as in `weft flows`; stays with the rule"),
    place: z.int().describe("Lower is asked first; the first rule that matches decides"),
    createdAt: TimeSchema,
  })
  .meta({ id: "Rule" });

/** What must hold for a policy to be saved. */
export const PolicyTestSchema = z
  .strictObject({
    name: z.string().min(1).max(100),
    from: SelectorSchema.describe("A peer; any peer that belongs to just this group; any peer without groups"),
    to: SelectorSchema,
    protocol: z.enum(POLICY_PROTOCOLS).nullable().default(null).describe("`null` = one that no rule names"),
    port: PortSchema.nullable().default(null).describe("Destination port of tcp or udp"),
    expect: z.enum(["allow", "deny"]),
  })
  .meta({ id: "PolicyTest" });

type SelectorInput = z.output<typeof SelectorSchema>;

/** A checked selector, with its id as what it is. */
export function selectorOf(input: SelectorInput): Selector {
  if (input.kind === "group" && groupIds.is(input.id)) return { kind: "group", id: input.id };
  if (input.kind === "peer" && peerIds.is(input.id)) return { kind: "peer", id: input.id };
  return ALL;
}

/** A checked test, with its ids as what they are. */
export function policyTestOf(input: z.output<typeof PolicyTestSchema>): PolicyTest {
  return { ...input, from: selectorOf(input.from), to: selectorOf(input.to) };
}
