import { err } from "@weft/protocol";
import { listFlows as readFlows } from "../../db/flow-records-repository.ts";
import { findNetwork } from "../../db/networks-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { flowLogsSpec } from "./contract.ts";
import type { flowLogsContract } from "./contract.ts";
import { flowView } from "./flow-view.ts";

/** Lists flows that the nodes of a network reported. */
export async function listFlows(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof flowLogsContract.list>,
): Outcome<typeof flowLogsContract.list> {
  const { db } = deps.database;
  const { networkId } = input;
  if (!(await findNetwork(db, networkId))) return err({ code: "not_found", what: "network" });
  return answerList(deps, {
    spec: flowLogsSpec,
    scope: networkId,
    input,
    read: (request) => readFlows(db, networkId, request),
    view: flowView,
  });
}
