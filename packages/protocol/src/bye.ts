/** Why one side ends an agent stream. */
export const BYE_REASONS = [
  "restart",
  "removed",
  "expired",
  "disabled",
  "replaced",
  "unauthorised",
  "incompatible",
  "overload",
  "protocol_error",
  "agent_stopping",
] as const;

export type ByeReason = (typeof BYE_REASONS)[number];

export function isByeReason(text: string): text is ByeReason {
  return BYE_REASONS.some((reason) => reason === text);
}

/**
 * Reasons that a side believes before the stream is protected. None of them changes what an agent keeps: anybody between
 * the two could have written them.
 */
export const CLEAR_BYE_REASONS = ["restart", "incompatible", "overload"] as const satisfies readonly ByeReason[];

export type ClearByeReason = (typeof CLEAR_BYE_REASONS)[number];

export function isClearByeReason(reason: ByeReason): reason is ClearByeReason {
  return CLEAR_BYE_REASONS.some((clear) => clear === reason);
}

/** Machine-readable detail of a refused enrolment or handshake. */
export const BYE_DETAILS = [
  "none",
  "agent_too_old",
  "agent_too_new",
  "bad_signature",
  "channel_mismatch",
  "unknown_node",
  "enrolment_key_unknown",
  "enrolment_key_expired",
  "enrolment_key_used_up",
  "address_pool_full",
  "flapping",
] as const;

export type ByeDetail = (typeof BYE_DETAILS)[number];

export function isByeDetail(text: string): text is ByeDetail {
  return BYE_DETAILS.some((detail) => detail === text);
}
