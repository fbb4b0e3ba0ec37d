import { CONCEAL_PRESETS } from "@weft/protocol";
import { z } from "zod";
import { FLOW_KEEP_HOURS } from "../../domain/new-network.ts";
import { POLICY_PROTOCOLS, RULE_DIRECTIONS } from "../../domain/policy-rule.ts";
import { ROLES } from "../../registry/access.ts";
import { contracts } from "../../registry/contracts.ts";
import { GROUPS_MAX } from "../../registry/limits.ts";
import {
  FlowSettingSchemas,
  LifecycleSchemas,
  NetworkNameSchema,
  ProfileFallbackSchema,
} from "../../registry/network-schemas.ts";
import { newRuleFields, PortSchema, RULES_MAX } from "../../registry/policy-schemas.ts";
import { LoginSchema, ServerRoleSchema } from "../../registry/user-schemas.ts";

/*
 * What a file of configuration may say. Things are named, never numbered: ids differ from server to server. A list that is
 * left out is not managed by the file; a field that is left out has its default.
 */

const DescriptionSchema = z.string().max(1_000).default("");
const StateSchema = z.enum(["on", "off"]).default("on");
const GroupNamesSchema = z.array(NetworkNameSchema).max(100).default([]);
/** Names of peers are one label; whether there is such a peer is seen later. */
const PeerNameSchema = z.string().min(1).max(63);

/** Whom one side of a rule or test speaks about: `all`, `group:NAME` or `peer:NAME`. */
const SideSchema = z
  .string()
  .max(80)
  .regex(/^(all|(group|peer):.+)$/u, "expected all, group:NAME or peer:NAME");

const PortRangeSchema = z
  .union([z.string(), z.int()])
  .transform(String)
  .pipe(z.string().regex(/^\d{1,5}(-\d{1,5})?$/, "expected a port such as 443, or a range such as 8000-8080"));

const RuleSchema = z.strictObject({
  name: newRuleFields.name,
  description: newRuleFields.description,
  action: newRuleFields.action,
  state: newRuleFields.state,
  from: SideSchema.default("all"),
  to: SideSchema.default("all"),
  direction: z.enum(RULE_DIRECTIONS).default("both-ways"),
  protocol: newRuleFields.protocol,
  ports: z.array(PortRangeSchema).min(1).max(64).nullable().default(null),
  icmpType: newRuleFields.icmpType,
  icmpCode: newRuleFields.icmpCode,
});

const TestSchema = z.strictObject({
  name: z.string().min(1).max(100),
  from: SideSchema,
  to: SideSchema,
  protocol: z.enum(POLICY_PROTOCOLS).nullable().default(null),
  port: PortSchema.nullable().default(null),
  expect: z.enum(["allow", "deny"]),
});

const RouteSchema = z.strictObject({
  peer: PeerNameSchema,
  ...contracts.routes.create.input.omit({ peerId: true }).shape,
  state: z.enum(["pending", "approved"]).default("approved"),
});

const keyInput = contracts.enrolmentKeys.create.input.omit({ networkId: true, groupIds: true }).shape;
const settingsInput = contracts.nameSettings.replace.input.omit({ networkId: true, leftAloneGroupIds: true }).shape;
const nameserversInput = contracts.nameservers.create.input.omit({ networkId: true, groupIds: true }).shape;

const parts = {
  groups: z.strictObject({ name: NetworkNameSchema, description: DescriptionSchema }),
  concealProfiles: z.strictObject({
    name: NetworkNameSchema,
    description: DescriptionSchema,
    preset: z.enum(CONCEAL_PRESETS).nullable().default(null),
    conf: contracts.conceal.create.input.shape.conf,
  }),
  policy: z.strictObject({
    rules: z.array(RuleSchema).max(RULES_MAX).default([]),
    tests: z.array(TestSchema).max(500).default([]),
  }),
  routeApprovers: z.strictObject({
    group: NetworkNameSchema,
    prefix: contracts.routeApprovers.create.input.shape.prefix,
  }),
  routes: RouteSchema,
  nameSettings: z.strictObject({ ...settingsInput, leftAloneGroups: GroupNamesSchema }),
  nameservers: z.strictObject({ ...nameserversInput, groups: GroupNamesSchema }),
  nameRecords: contracts.nameRecords.create.input.omit({ networkId: true }),
  enrolmentKeys: z.strictObject({ ...keyInput, name: z.string().trim().min(1).max(63), groups: GroupNamesSchema }),
};

/** What a file may say about one network. */
export const NetworkPartSchema = z.strictObject({
  name: NetworkNameSchema,
  ipv4Range: contracts.networks.create.input.shape.ipv4Range,
  ipv6Range: contracts.networks.create.input.shape.ipv6Range,
  profileFallback: ProfileFallbackSchema.default("refuse"),
  approval: LifecycleSchemas.approval.default("automatic"),
  membershipSeconds: LifecycleSchemas.membershipSeconds.default(null),
  idleRemovalSeconds: LifecycleSchemas.idleRemovalSeconds.default(null),
  flowSampling: FlowSettingSchemas.flowSampling.default(null),
  flowKeepHours: FlowSettingSchemas.flowKeepHours.default(FLOW_KEEP_HOURS),
  groups: z.array(parts.groups).max(GROUPS_MAX).optional(),
  concealProfiles: z.array(parts.concealProfiles).max(100).optional(),
  policy: parts.policy.optional(),
  routeApprovers: z.array(parts.routeApprovers).max(1_000).optional(),
  routes: z.array(parts.routes).max(2_000).optional(),
  nameSettings: parts.nameSettings.optional(),
  nameservers: z.array(parts.nameservers).max(100).optional(),
  nameRecords: z.array(parts.nameRecords).max(5_000).optional(),
  enrolmentKeys: z.array(parts.enrolmentKeys).max(1_000).optional(),
});

const ServiceAccountSchema = z.strictObject({
  login: LoginSchema,
  role: ServerRoleSchema.default("none"),
  networkRoles: z
    .array(z.strictObject({ network: NetworkNameSchema, role: z.enum(ROLES) }))
    .max(1_000)
    .default([]),
  state: StateSchema,
});

/** The number rises when a file of today would mean something else. */
const FORMAT = 1;

/** A whole file. */
export const DocumentSchema = z.strictObject({
  weft: z.literal(FORMAT, `this server reads files that begin with "weft: ${FORMAT}"`),
  networks: z.array(NetworkPartSchema).max(200).optional(),
  webhooks: z.array(contracts.webhooks.create.input).max(200).optional(),
  serviceAccounts: z.array(ServiceAccountSchema).max(1_000).optional(),
});

export type ConfigurationDocument = z.output<typeof DocumentSchema>;
export type NetworkPart = z.output<typeof NetworkPartSchema>;
export type NetworkSettingsPart = Pick<
  NetworkPart,
  | "name"
  | "ipv4Range"
  | "ipv6Range"
  | "profileFallback"
  | "approval"
  | "membershipSeconds"
  | "idleRemovalSeconds"
  | "flowSampling"
  | "flowKeepHours"
>;
export type PartOf<Name extends keyof typeof parts> = z.output<(typeof parts)[Name]>;
export type WebhookPart = z.output<typeof contracts.webhooks.create.input>;
export type ServiceAccountPart = z.output<typeof ServiceAccountSchema>;
export { FORMAT };
