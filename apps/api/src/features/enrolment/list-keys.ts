import { err } from "@weft/protocol";
import { listEnrolmentKeys } from "../../db/enrolment-keys-repository.ts";
import { findNetwork } from "../../db/networks-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { enrolmentKeysSpec } from "./contract.ts";
import type { enrolmentKeysContract } from "./contract.ts";
import { keyView } from "./key-view.ts";

/** Lists enrolment keys, newest first unless the caller wants another order. */
export async function listKeys(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof enrolmentKeysContract.list>,
): Outcome<typeof enrolmentKeysContract.list> {
  const { db } = deps.database;
  const { networkId } = input;
  if (!(await findNetwork(db, networkId))) return err({ code: "not_found", what: "network" });
  const nowMs = deps.clock.nowMs();
  return answerList(deps, {
    spec: enrolmentKeysSpec,
    scope: networkId,
    input,
    read: (request) => listEnrolmentKeys(db, networkId, request),
    view: (key) => keyView(key, nowMs),
  });
}
