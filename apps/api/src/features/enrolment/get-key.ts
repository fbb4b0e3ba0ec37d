import { err, ok } from "@weft/protocol";
import { findEnrolmentKey } from "../../db/enrolment-keys-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { enrolmentKeysContract } from "./contract.ts";
import { keyView } from "./key-view.ts";

/** Shows one enrolment key; what it is made of was shown once, when it was made. */
export async function getKey(
  deps: FeatureDeps,
  _call: Call,
  { enrolmentKeyId }: InputOf<typeof enrolmentKeysContract.get>,
): Outcome<typeof enrolmentKeysContract.get> {
  const key = await findEnrolmentKey(deps.database.db, enrolmentKeyId);
  return key ? ok(keyView(key, deps.clock.nowMs())) : err({ code: "not_found", what: "enrolment key" });
}
