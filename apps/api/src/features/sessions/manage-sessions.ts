import { err, ok } from "@weft/protocol";
import {
  deleteSession,
  deleteSessionsOf,
  findSessionById,
  listSessions as readSessions,
} from "../../db/sessions-repository.ts";
import type { Session } from "../../db/sessions-repository.ts";
import { transact } from "../../db/transact.ts";
import { findUser } from "../../db/users-repository.ts";
import { roleCovers } from "../../registry/access.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import { refuseStrongerAccount } from "../../registry/change-account.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { sessionsSpec } from "./contract.ts";
import type { sessionsContract } from "./contract.ts";

/** Lists sessions, newest first unless the caller wants another order. Who may not see those of others finds none there. */
export async function listSessions(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof sessionsContract.list>,
): Outcome<typeof sessionsContract.list> {
  const { db } = deps.database;
  const { actor } = call;
  if (!("userId" in actor)) return err({ code: "not_authenticated", detail: "nobody is signed in" });
  const userId = input.userId ?? (roleCovers(actor.role, "admin") ? undefined : actor.userId);
  if (userId !== actor.userId && !roleCovers(actor.role, "admin")) return err({ code: "not_found", what: "user" });
  const now = new Date(deps.clock.nowMs());
  const chosen = { ...input, userId };
  return answerList(deps, {
    spec: sessionsSpec,
    scope: userId ?? "",
    input: chosen,
    read: (request) => readSessions(db, now, request),
    view: (session) => sessionView(session, call),
  });
}

/** Ends a session; one of somebody else only for administrators, and of nobody with stronger rights. */
export async function revokeSession(
  deps: FeatureDeps,
  call: Call,
  { sessionId }: InputOf<typeof sessionsContract.revoke>,
): Outcome<typeof sessionsContract.revoke> {
  const { actor } = call;
  return transact(deps.database.db, async (tx) => {
    const session = await findSessionById(tx, sessionId);
    const holder = session && (await findUser(tx, session.userId));
    if (!session || !holder || !("userId" in actor)) return err({ code: "not_found", what: "session" });
    if (session.userId !== actor.userId) {
      if (!roleCovers(actor.role, "admin")) return err({ code: "not_found", what: "session" });
      const refused = refuseStrongerAccount(call, holder);
      if (refused) return err(refused);
    }
    await deleteSession(tx, session.tokenHash);
    await recordAudit(tx, call, {
      action: "sessions.revoke",
      objectId: session.id,
      networkId: null,
      before: sessionView(session, call),
      after: null,
      at: new Date(deps.clock.nowMs()),
    });
    return ok(undefined);
  });
}

/** Ends all sessions of the caller but the one it calls with; a token has none of its own. */
export async function revokeOtherSessions(
  deps: FeatureDeps,
  call: Call,
): Outcome<typeof sessionsContract.revokeOthers> {
  const { actor } = call;
  if (!("userId" in actor)) return err({ code: "not_authenticated", detail: "nobody is signed in" });
  return transact(deps.database.db, async (tx) => {
    await deleteSessionsOf(tx, actor.userId, actor.kind === "user" ? actor.sessionId : undefined);
    const note = { action: "sessions.revokeOthers", objectId: actor.userId, networkId: null };
    await recordAudit(tx, call, { ...note, before: null, after: null, at: new Date(deps.clock.nowMs()) });
    return ok(undefined);
  });
}

function sessionView({ tokenHash, createdAt, lastSeenAt, expiresAt, ...rest }: Session, { actor }: Call) {
  return {
    ...rest,
    isCurrent: actor.kind === "user" && actor.sessionId === tokenHash,
    createdAt: createdAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
}
