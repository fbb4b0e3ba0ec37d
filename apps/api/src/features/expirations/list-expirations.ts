import { readExpirations } from "../../db/expirations-repository.ts";
import type { Expiring } from "../../db/expirations-repository.ts";
import { EXPIRING_KINDS, expiryWarning } from "../../domain/expiration.ts";
import type { ExpiringKind } from "../../domain/expiration.ts";
import { roleCovers, scopesCover } from "../../registry/access.ts";
import type { Role, Scope } from "../../registry/access.ts";
import type { Actor, Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { expirationsSpec } from "./contract.ts";
import type { expirationsContract } from "./contract.ts";

/** Lists what ends by itself, soonest first. */
export async function listExpirations(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof expirationsContract.list>,
): Outcome<typeof expirationsContract.list> {
  const now = new Date(deps.clock.nowMs());
  const { actor } = call;
  const kinds = EXPIRING_KINDS.filter((kind) => maySee(actor, kind));
  const ownTokensOf = "userId" in actor && !roleCovers(actor.role, "admin") ? actor.userId : null;
  return answerList(deps, {
    spec: expirationsSpec,
    // A cursor of somebody who sees other things leads elsewhere.
    scope: [...kinds, ownTokensOf ?? ""].join(),
    input,
    read: (request) => readExpirations(deps.database.db, { request, kinds, ownTokensOf, now }),
    view: (row) => viewOf(row, now),
  });
}

/** As the lists of the kinds themselves say. */
function maySee(actor: Actor, kind: ExpiringKind): boolean {
  if (!("userId" in actor)) return false;
  const { role, scope } = NEEDED[kind];
  return roleCovers(actor.role, role) && (actor.kind === "user" || scopesCover(actor.scopes, scope));
}

function viewOf({ expiresAt, ...row }: Expiring, now: Date) {
  return { ...row, expiresAt: expiresAt.toISOString(), warning: expiryWarning(expiresAt, now) };
}

const NEEDED: Readonly<Record<ExpiringKind, { readonly role: Role; readonly scope: Scope }>> = {
  peer: { role: "viewer", scope: "peers:read" },
  enrolmentKey: { role: "viewer", scope: "keys:read" },
  token: { role: "viewer", scope: "tokens:read" },
  invite: { role: "admin", scope: "users:read" },
};
