import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { takeInvite } from "../db/invites-repository.ts";
import type { Invite } from "../db/invites-repository.ts";
import { findUser, lockUsers } from "../db/users-repository.ts";
import type { Failure } from "../domain/failure.ts";
import { roleCovers } from "./access.ts";
import { hashSecret } from "./secrets.ts";

/** Spends an invite. Whoever lost the right to invite lost it for links that they made before as well. */
export async function spendInvite(tx: Executor, secret: string, now: Date): Promise<Result<Invite, Failure>> {
  // Accounts before invites, as who removes an account with its invites does: the two never wait for each other.
  await lockUsers(tx);
  const invite = await takeInvite(tx, hashSecret(secret), now);
  const creatorId = invite?.createdBy ?? null;
  const creator = creatorId === null ? undefined : await findUser(tx, creatorId);
  if (!invite || !creator || creator.disabledAt !== null) return err({ code: "invite_unusable" });
  const mayStill = roleCovers(creator.role, "admin") && roleCovers(creator.role, invite.role);
  return mayStill ? ok(invite) : err({ code: "invite_unusable" });
}
