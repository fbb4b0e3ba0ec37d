/** What ends by itself. Signed-in browsers are not among it: using them moves their end. */
export const EXPIRING_KINDS = ["peer", "enrolmentKey", "token", "invite"] as const;
export type ExpiringKind = (typeof EXPIRING_KINDS)[number];

export const EXPIRY_WARNINGS = ["day", "week", "month", "none"] as const;
export type ExpiryWarning = (typeof EXPIRY_WARNINGS)[number];

/** How urgent an end is. */
export function expiryWarning(expiresAt: Date, now: Date): ExpiryWarning {
  const days = (expiresAt.getTime() - now.getTime()) / DAY_MS;
  if (days < 1) return "day";
  if (days < 7) return "week";
  return days < 30 ? "month" : "none";
}

const DAY_MS = 86_400_000;
