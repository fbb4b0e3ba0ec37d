import { err } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import { listRules as readRules } from "../../db/rules-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { rulesSpec } from "./contract.ts";
import type { rulesContract } from "./contract.ts";
import { ruleView } from "../../registry/rule-view.ts";

/** Lists the rules of a network. */
export async function listRules(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof rulesContract.list>,
): Outcome<typeof rulesContract.list> {
  const { db } = deps.database;
  const { networkId } = input;
  if (!(await findNetwork(db, networkId))) return err({ code: "not_found", what: "network" });
  return answerList(deps, {
    spec: rulesSpec,
    scope: networkId,
    input,
    read: (request) => readRules(db, networkId, request),
    view: ruleView,
  });
}
