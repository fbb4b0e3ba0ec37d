import { z } from "zod";
import { NetworkIdSchema, TimeSchema } from "./common-schemas.ts";

export const NetworkNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(63)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u, "starts with a letter or digit; then letters, digits, spaces and . _ -");

/** "plain": nodes go on in plain WireGuard; "refuse": they stay apart until both have the same profile. */
export const ProfileFallbackSchema = z.enum(["plain", "refuse"]);

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
    createdAt: TimeSchema,
  })
  .meta({ id: "Network" });
