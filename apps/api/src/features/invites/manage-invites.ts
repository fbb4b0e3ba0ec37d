import { randomBytes } from "node:crypto";
import { err, inviteIds, ok } from "@weft/protocol";
import {
  countOpenInvites,
  deleteInvite,
  insertInvite,
  listInvites as readInvites,
} from "../../db/invites-repository.ts";
import { transact } from "../../db/transact.ts";
import { findCredentials } from "../../db/users-repository.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import { refuseStronger } from "../../registry/change-account.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { INVITES_MAX } from "../../registry/limits.ts";
import { answerList } from "../../registry/pages.ts";
import { hashSecret } from "../../registry/secrets.ts";
import { invitesSpec } from "./contract.ts";
import type { invitesContract } from "./contract.ts";
import { inviteView } from "./invite-view.ts";

/** Lists invites, newest first unless the caller wants another order. */
export async function listInvites(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof invitesContract.list>,
): Outcome<typeof invitesContract.list> {
  const { db } = deps.database;
  return answerList(deps, {
    spec: invitesSpec,
    scope: "",
    input,
    read: (request) => readInvites(db, request),
    view: (invite) => inviteView(invite, deps.clock.nowMs()),
  });
}

/** Makes an invite. Its secret stands behind the `#` of the link: browsers keep that to themselves. */
export async function createInvite(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof invitesContract.create>,
): Outcome<typeof invitesContract.create> {
  const refused = refuseStronger(call, input.role);
  if (refused) return err(refused);
  const now = new Date(deps.clock.nowMs());
  const secret = randomBytes(32).toString("base64url");
  const invite = {
    id: inviteIds.make(deps.random),
    role: input.role,
    login: input.login ?? null,
    expiresAt: new Date(now.getTime() + input.expiresInSeconds * 1_000),
    usedAt: null,
    usedBy: null,
    createdBy: "userId" in call.actor ? call.actor.userId : null,
    createdAt: now,
  };
  return transact(deps.database.db, async (tx) => {
    if (input.login !== undefined && (await findCredentials(tx, input.login))) {
      return err({ code: "name_taken", name: input.login });
    }
    if ((await countOpenInvites(tx, now)) >= INVITES_MAX) {
      return err({ code: "limit_reached", what: "open invites", limit: INVITES_MAX });
    }
    await insertInvite(tx, { ...invite, hash: hashSecret(secret) });
    const view = inviteView(invite, now.getTime());
    const note = { action: "invites.create", objectId: invite.id, networkId: null };
    await recordAudit(tx, call, { ...note, before: null, after: view, at: now });
    return ok({ ...view, link: `${deps.server.publicUrl ?? call.baseUrl}/invite#${secret}` });
  });
}

/** Makes a link useless. */
export async function revokeInvite(
  deps: FeatureDeps,
  call: Call,
  { inviteId }: InputOf<typeof invitesContract.revoke>,
): Outcome<typeof invitesContract.revoke> {
  const now = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const invite = await deleteInvite(tx, inviteId);
    if (!invite) return err({ code: "not_found", what: "invite" });
    const note = { action: "invites.revoke", objectId: invite.id, networkId: null };
    await recordAudit(tx, call, { ...note, before: inviteView(invite, now.getTime()), after: null, at: now });
    return ok(undefined);
  });
}
