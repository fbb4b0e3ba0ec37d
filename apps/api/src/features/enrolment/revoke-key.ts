import { err, ok } from "@weft/protocol";
import { findEnrolmentKey, revokeEnrolmentKey } from "../../db/enrolment-keys-repository.ts";
import { transact } from "../../db/transact.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { enrolmentKeysContract } from "./contract.ts";
import { keyView } from "./key-view.ts";

/** Revokes an enrolment key. A revoked one counts as gone: revoking it again finds nothing. */
export async function revokeKey(
  deps: FeatureDeps,
  call: Call,
  input: InputOf<typeof enrolmentKeysContract.revoke>,
): Outcome<typeof enrolmentKeysContract.revoke> {
  const now = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const key = await findEnrolmentKey(tx, input.enrolmentKeyId);
    if (!key || key.revokedAt) return err({ code: "not_found", what: "enrolment key" });
    await revokeEnrolmentKey(tx, key.id, now);
    const note = { action: "enrolmentKeys.revoke", objectId: key.id, networkId: key.networkId };
    const before = keyView(key, now.getTime());
    await recordAudit(tx, call, {
      ...note,
      before,
      after: keyView({ ...key, revokedAt: now }, now.getTime()),
      at: now,
    });
    return ok(undefined);
  });
}
