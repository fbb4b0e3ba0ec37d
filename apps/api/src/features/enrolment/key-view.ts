import type { EnrolmentKey } from "../../db/enrolment-keys-repository.ts";

/** An enrolment key as callers see it. */
export function keyView(key: EnrolmentKey, nowMs: number) {
  return {
    id: key.id,
    networkId: key.networkId,
    name: key.name,
    hint: key.hint,
    state: stateOf(key, nowMs),
    uses: key.uses,
    usesMax: key.usesMax,
    expiresAt: key.expiresAt.toISOString(),
    groupIds: [...key.groupIds],
    ephemeralSeconds: key.ephemeralSeconds,
    approval: key.approval,
    createdAt: key.createdAt.toISOString(),
    createdBy: key.createdBy,
  };
}

function stateOf(key: EnrolmentKey, nowMs: number) {
  if (key.revokedAt) return "revoked" as const;
  if (key.usesMax !== null && key.uses >= key.usesMax) return "spent" as const;
  return key.expiresAt.getTime() <= nowMs ? ("expired" as const) : ("valid" as const);
}
