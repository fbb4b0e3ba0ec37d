import { FLOW_SAMPLING_MAX } from "@weft/protocol";
import { z } from "zod";
import { NETWORK_APPROVALS } from "../domain/peer-state.ts";
import { NetworkIdSchema, TimeSchema } from "./common-schemas.ts";

export const NetworkNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(63)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u, "starts with a letter or digit; then letters, digits, spaces and . _ -");

/** "plain": nodes go on in plain WireGuard; "refuse": they stay apart until both have the same profile. */
export const ProfileFallbackSchema = z.enum(["plain", "refuse"]);

const YEAR_SECONDS = 31_536_000;

/** What happens to peers by itself. */
export const LifecycleSchemas = {
  approval: z.enum(NETWORK_APPROVALS).describe("Whether somebody must let new peers in; keys may say otherwise."),
  membershipSeconds: z
    .int()
    .min(60)
    .max(10 * YEAR_SECONDS)
    .nullable()
    .describe("How long a new membership lasts until its node must join again; null: for good."),
  idleRemovalSeconds: z
    .int()
    .min(3_600)
    .max(10 * YEAR_SECONDS)
    .nullable()
    .describe("Peers that were away for so long are removed; null: none."),
};

/** What nodes tell of their flows. */
export const FlowSettingSchemas = {
  flowSampling: z
    .int()
    .min(1)
    .max(FLOW_SAMPLING_MAX)
    .nullable()
    .describe("Nodes report one flow of so many, from its beginning to its end, with rule and counts; null: none."),
  flowKeepHours: z
    .int()
    .min(1)
    .max(2_160)
    .describe("Hours that reported flows are kept; the oldest go before if they are too many."),
};

/** Address ranges in CIDR form; `null` means the network has none of that family. */
export const RangesSchema = {
  ipv4Range: z.string().max(18).nullable(),
  ipv6Range: z.string().max(43).nullable(),
};

export const NetworkSchema = z
  .strictObject({
    id: NetworkIdSchema,
    name: z.string(),
    ...RangesSchema,
    peerCount: z.int(),
    onlineCount: z.int(),
    profileFallback: ProfileFallbackSchema,
    ...LifecycleSchemas,
    ...FlowSettingSchemas,
    createdAt: TimeSchema,
  })
  .meta({ id: "Network" });
