import type { Invite } from "../../db/invites-repository.ts";

/** An invite as administrators see it; its secret is not part of it. */
export function inviteView(invite: Invite, nowMs: number) {
  const { id, role, login, expiresAt, usedAt, usedBy, createdBy, createdAt } = invite;
  const isExpired = expiresAt.getTime() <= nowMs;
  return {
    id,
    role,
    login,
    state: usedAt ? ("used" as const) : isExpired ? ("expired" as const) : ("open" as const),
    expiresAt: expiresAt.toISOString(),
    usedAt: usedAt?.toISOString() ?? null,
    usedBy,
    createdBy,
    createdAt: createdAt.toISOString(),
  };
}
