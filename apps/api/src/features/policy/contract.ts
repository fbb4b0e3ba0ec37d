import { z } from "zod";
import { listOutput, NetworkIdSchema, PeerIdSchema, RuleIdSchema, TimeSchema } from "../../registry/common-schemas.ts";
import { mutation, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";
import { newRuleFields, PolicyTestSchema, PortSchema, RULES_MAX, RuleSchema } from "../../registry/policy-schemas.ts";
import { POLICY_PROTOCOLS } from "../../domain/policy-rule.ts";

/** More tests of one document than this are refused. */
const TESTS_MAX = 500;

const PolicySchema = z
  .strictObject({
    networkId: NetworkIdSchema,
    version: z.int().min(0).describe("Rises with every change; 0 is what the network began with"),
    author: z.string().nullable(),
    at: TimeSchema.nullable(),
    rules: z.array(RuleSchema).describe("In the order in which they are asked"),
    tests: z.array(PolicyTestSchema),
  })
  .meta({ id: "Policy" });

const documentFields = {
  rules: z
    .array(
      z.strictObject({
        id: RuleIdSchema.optional().describe("Of a rule that is there: it goes on with its number and counts"),
        ...newRuleFields,
      }),
    )
    .max(RULES_MAX),
  tests: z.array(PolicyTestSchema).max(TESTS_MAX).default([]),
};

const TestResultSchema = z.strictObject({
  name: z.string(),
  outcome: z.enum(["passed", "failed"]),
  reason: z.string(),
});

const PairSchema = z.strictObject({ fromPeerId: PeerIdSchema, toPeerId: PeerIdSchema });
const PairsSchema = z.strictObject({ total: z.int(), pairs: z.array(PairSchema).describe("The first of them") });

const PacketFields = {
  protocol: z.enum(POLICY_PROTOCOLS).optional().describe("Left out: one that no rule names"),
  port: PortSchema.optional().describe("Destination port of tcp or udp"),
};

export const policyVersionsSpec = listSpec({
  name: "policyVersions",
  orders: ["-version", "version"],
  filters: { author: z.string().min(1).max(100) },
});

export const policyContract = {
  get: query({
    summary: "Shows the policy of a network as one document: its rules in order and the tests beside them",
    rest: { method: "GET", path: "/networks/{networkId}/policy", status: 200, tagged: "policy" },
    access: { kind: "role", role: "viewer", scope: "policies:read" },
    input: z.strictObject({ networkId: NetworkIdSchema }),
    output: PolicySchema,
  }),
  replace: mutation({
    summary: "Replaces the policy of a network; one whose tests fail is refused, and nothing changes",
    rest: { method: "PUT", path: "/networks/{networkId}/policy", status: 200, tagged: "policy", ifMatch: "required" },
    access: { kind: "role", role: "admin", scope: "policies:write" },
    input: z.strictObject({ networkId: NetworkIdSchema, ...documentFields }),
    output: PolicySchema,
  }),
  validate: query({
    summary: "Says what a policy would do without putting it in force: faults, tests, who gains and who loses reach",
    rest: { method: "POST", path: "/networks/{networkId}/policy/validate", status: 200 },
    access: { kind: "role", role: "viewer", scope: "policies:read" },
    input: z.strictObject({ networkId: NetworkIdSchema, ...documentFields }),
    output: z.strictObject({
      verdict: z.enum(["fits", "faulty", "tests-fail"]),
      fault: z.strictObject({ field: z.string(), reason: z.string() }).nullable(),
      tests: z.array(TestResultSchema),
      affectedPeerIds: z.array(PeerIdSchema).describe("Peers whose packet rules or neighbours change"),
      gained: PairsSchema.describe("Who could begin something with whom that nobody let them before"),
      lost: PairsSchema,
    }),
  }),
  test: query({
    summary: "Runs the tests that are stored beside the policy",
    rest: { method: "POST", path: "/networks/{networkId}/policy/test", status: 200 },
    access: { kind: "role", role: "viewer", scope: "policies:read" },
    input: z.strictObject({ networkId: NetworkIdSchema }),
    output: z.strictObject({ tests: z.array(TestResultSchema) }),
  }),
  explain: query({
    summary: "Says which rule decides about a packet that one peer begins to send to another",
    rest: { method: "GET", path: "/networks/{networkId}/policy/explain", status: 200 },
    access: { kind: "role", role: "viewer", scope: "policies:read" },
    input: z.strictObject({
      networkId: NetworkIdSchema,
      fromPeerId: PeerIdSchema,
      toPeerId: PeerIdSchema,
      ...PacketFields,
    }),
    output: z.strictObject({
      verdict: z.enum(["allow", "deny"]),
      rule: RuleSchema.nullable().describe("The first rule that matches; null: none does, and so it is denied"),
      reason: z.string(),
    }),
  }),
  versions: query({
    summary: "Lists the policies that a network had, newest first",
    rest: { method: "GET", path: "/networks/{networkId}/policy/versions", status: 200 },
    access: { kind: "role", role: "viewer", scope: "policies:read" },
    list: policyVersionsSpec,
    input: z.strictObject({ networkId: NetworkIdSchema, ...listFields(policyVersionsSpec) }),
    output: listOutput(
      z.strictObject({ version: z.int(), author: z.string().nullable(), at: TimeSchema, ruleCount: z.int() }),
    ),
  }),
  version: query({
    summary: "Shows a policy that a network had",
    rest: { method: "GET", path: "/networks/{networkId}/policy/versions/{version}", status: 200 },
    access: { kind: "role", role: "viewer", scope: "policies:read" },
    input: z.strictObject({ networkId: NetworkIdSchema, version: z.coerce.number().int().min(1) }),
    output: PolicySchema,
  }),
  restore: mutation({
    summary: "Puts a policy in force again that the network had; it becomes the newest version",
    rest: {
      method: "POST",
      path: "/networks/{networkId}/policy/restore",
      status: 200,
      tagged: "policy",
      ifMatch: "required",
    },
    access: { kind: "role", role: "admin", scope: "policies:write" },
    input: z.strictObject({ networkId: NetworkIdSchema, version: z.int().min(1) }),
    output: PolicySchema,
  }),
};
