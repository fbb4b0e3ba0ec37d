import { z } from "zod";

/** Every error code that may cross the HTTP interface. A new code is appended here first. */
export const WIRE_ERROR_CODES = [
  "invalid_input",
  "not_authenticated",
  "forbidden",
  "not_found",
  "conflict",
  "name_taken",
  "range_overlaps",
  "range_invalid",
  "address_pool_full",
  "enrolment_key_unknown",
  "enrolment_key_expired",
  "enrolment_key_used_up",
  "owner_exists",
  "owner_missing",
  "setup_token_wrong",
  "login_failed",
  "peer_offline",
  "timeout",
  "rate_limited",
  "payload_too_large",
  "unsupported",
  "unavailable",
  "internal",
] as const;

export type WireErrorCode = (typeof WIRE_ERROR_CODES)[number];

export const WireErrorCodeSchema = z.enum(WIRE_ERROR_CODES);

/** Body of every refused request. */
export const WireErrorSchema = z.object({
  code: WireErrorCodeSchema,
  message: z.string(),
  /** Path of the input that was wrong. */
  field: z.string().optional(),
  retryAfterSeconds: z.number().optional(),
});

export type WireError = z.infer<typeof WireErrorSchema>;
