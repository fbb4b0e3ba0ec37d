import { err } from "@weft/protocol";
import { listGroups as readGroups } from "../../db/groups-repository.ts";
import { findNetwork } from "../../db/networks-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { ListRequest } from "../../registry/list-kit.ts";
import { answerList } from "../../registry/pages.ts";
import { groupsSpec } from "./contract.ts";
import type { groupsContract } from "./contract.ts";
import { groupView } from "./group-view.ts";

/** Lists the groups of a network. */
export async function listGroups(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof groupsContract.list>,
): Outcome<typeof groupsContract.list> {
  const { db } = deps.database;
  const { networkId } = input;
  if (!(await findNetwork(db, networkId))) return err({ code: "not_found", what: "network" });
  const read = (request: ListRequest) => readGroups(db, networkId, request);
  return answerList(deps, { spec: groupsSpec, scope: networkId, input, read, view: groupView });
}
