import { err, ok, userIds } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import { findOpenInvite, noteInviteUse } from "../../db/invites-repository.ts";
import { transact } from "../../db/transact.ts";
import { insertUser } from "../../db/users-repository.ts";
import { addressGroup } from "../../domain/address-group.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { hashSecret } from "../../registry/secrets.ts";
import { spendInvite } from "../../registry/spend-invite.ts";
import { startSession } from "../../registry/session-start.ts";
import type { invitesContract } from "./contract.ts";

/** Says what an invite is for. */
export async function lookAtInvite(
  deps: FeatureDeps,
  call: Call,
  { secret }: InputOf<typeof invitesContract.look>,
): Outcome<typeof invitesContract.look> {
  const refused = slowGuesses(deps, call);
  if (refused) return err(refused);
  const invite = await findOpenInvite(deps.database.db, hashSecret(secret), new Date(deps.clock.nowMs()));
  if (!invite) return err({ code: "invite_unusable" });
  deps.throttle.succeed(guesser(call));
  return ok({ login: invite.login, role: invite.role, expiresAt: invite.expiresAt.toISOString() });
}

/** Spends the invite and makes its account in one transaction. */
export async function acceptInvite(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof invitesContract.accept>,
): Outcome<typeof invitesContract.accept> {
  const refused = slowGuesses(deps, call);
  if (refused) return err(refused);
  const { db } = deps.database;
  const now = new Date(deps.clock.nowMs());
  // Hashing a password is dear: nobody gets it for a guess.
  if (!(await findOpenInvite(db, hashSecret(input.secret), now))) return err({ code: "invite_unusable" });
  const passwordHash = await deps.passwords.hash(input.password);
  const accept = () =>
    transact(db, async (tx) => {
      const spent = await spendInvite(tx, input.secret, now);
      if (!spent.ok) return spent;
      const invite = spent.value;
      const user = { id: userIds.make(deps.random), login: invite.login ?? input.login, role: invite.role };
      await insertUser(tx, { ...user, passwordHash, createdAt: now });
      await noteInviteUse(tx, invite.id, user.id);
      const note = { action: "invites.accept", objectId: user.id, networkId: null };
      await recordAudit(tx, call, { ...note, before: { inviteId: invite.id }, after: user, at: now });
      await startSession(deps, tx, { call, userId: user.id });
      return ok({ user });
    });
  const accepted = await accept().catch((error: unknown) => {
    if (isDuplicate(error, "users_login_unique")) return err({ code: "name_taken", name: input.login } as const);
    throw error;
  });
  if (accepted.ok) deps.throttle.succeed(guesser(call));
  return accepted;
}

function slowGuesses(deps: FeatureDeps, call: Call) {
  const attempt = deps.throttle.begin(guesser(call), deps.clock.nowMs());
  if (attempt.allowed) return undefined;
  return { code: "rate_limited", retryAfterSeconds: attempt.retryAfterSeconds } as const;
}

/** Every source has a count of its own: a stranger who guesses must not keep the invited out. */
function guesser({ address }: Call) {
  return { account: `invite from ${addressGroup(address)}`, address };
}
