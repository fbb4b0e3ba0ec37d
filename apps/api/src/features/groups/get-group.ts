import { err, ok } from "@weft/protocol";
import { findGroup } from "../../db/groups-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { groupsContract } from "./contract.ts";
import { groupView } from "./group-view.ts";

/** Shows one group. */
export async function getGroup(
  deps: FeatureDeps,
  _call: Call,
  { groupId }: InputOf<typeof groupsContract.get>,
): Outcome<typeof groupsContract.get> {
  const group = await findGroup(deps.database.db, groupId);
  return group ? ok(groupView(group)) : err({ code: "not_found", what: "group" });
}
