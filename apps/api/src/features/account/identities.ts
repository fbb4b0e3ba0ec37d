import { createHash } from "node:crypto";
import { err, identityIds, ok } from "@weft/protocol";
import type { IdentityId } from "@weft/protocol";
import { deleteIdentity, identitiesOf } from "../../db/identities-repository.ts";
import { deleteSessionsOf } from "../../db/sessions-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { changeOwn } from "../../registry/own-account.ts";
import type { accountContract } from "./contract.ts";

/** Shows which identities open the caller's account. */
export async function listIdentities(deps: FeatureDeps, { actor }: Call): Outcome<typeof accountContract.identities> {
  if (!("userId" in actor)) return err({ code: "not_authenticated", detail: "nobody is signed in" });
  const found = await identitiesOf(deps.database.db, actor.userId);
  return ok({
    identities: found.map((identity) => {
      const { issuer, subject, createdAt } = identity;
      return { id: identityId(identity), issuer, subject, createdAt: createdAt.toISOString() };
    }),
  });
}

/** Takes an identity off. Sessions that it may have begun end with it, and one way into the account stays. */
export async function unlinkIdentity(
  deps: FeatureDeps,
  call: Call,
  { identityId: wanted, ...proof }: InputOf<typeof accountContract.unlinkIdentity>,
): Outcome<typeof accountContract.unlinkIdentity> {
  return changeOwn(deps, call, {
    action: "account.unlinkIdentity",
    proof,
    async apply(tx, { userId, sessionId, credentials }) {
      const all = await identitiesOf(tx, userId);
      const found = all.find((identity) => identityId(identity) === wanted);
      if (!found) return err({ code: "not_found", what: "identity of this account" });
      if (all.length === 1 && credentials.passwordHash === null) return err({ code: "last_way_in" });
      await deleteIdentity(tx, found);
      await deleteSessionsOf(tx, userId, sessionId);
      return ok(undefined);
    },
  });
}

/** An identity is a pair of texts; its id is made of both, so that no text of one runs into the other. */
function identityId({ issuer, subject }: { readonly issuer: string; readonly subject: string }): IdentityId {
  const digest = createHash("sha256")
    .update(JSON.stringify([issuer, subject]))
    .digest();
  const id = identityIds.fromBytes(digest.subarray(0, 16));
  if (!id.ok) throw new Error("sixteen bytes are an id");
  return id.value;
}
