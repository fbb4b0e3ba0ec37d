import { err, ok } from "@weft/protocol";
import {
  countSessions,
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
import { nextCursor, pageRequest } from "../../registry/pages.ts";
import type { sessionsContract } from "./contract.ts";

/** Lists sessions, newest first. Who may not see those of others finds none there. */
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
  const filter = { userId, now: new Date(deps.clock.nowMs()) };
  const list = { name: `sessions?user=${userId ?? ""}`, sort: "-createdAt" } as const;
  const request = pageRequest(deps, list.name, { ...input, sort: list.sort });
  if (!request.ok) return request;
  const page = await readSessions(db, { ...request.value, ...filter });
  return ok({
    items: page.rows.map((session) => sessionView(session, call)),
    nextCursor: nextCursor(deps, list, page.next),
    ...(input.count && { total: await countSessions(db, filter) }),
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
