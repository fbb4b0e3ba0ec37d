import type { z } from "zod";
import type { Account } from "../db/users-repository.ts";
import type { AccountSchema } from "./user-schemas.ts";

/** An account as administrators see it. */
export function accountView(account: Account): z.input<typeof AccountSchema> {
  const { id, login, role, networkRoles, grants, hasPassword, totpSince, lastLoginAt, createdAt } = account;
  return {
    id,
    login,
    role,
    networkRoles: [...networkRoles],
    grants: [...grants],
    state: account.approvedAt === null ? "waiting" : account.disabledAt === null ? "active" : "disabled",
    hasPassword,
    hasSecondFactor: totpSince !== null,
    lastLoginAt: lastLoginAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
