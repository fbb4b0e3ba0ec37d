import { err, ok } from "@weft/protocol";
import { countGroups, listGroups as readGroups } from "../../db/groups-repository.ts";
import { findNetwork } from "../../db/networks-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { nextCursor, pageRequest } from "../../registry/pages.ts";
import type { groupsContract } from "./contract.ts";
import { groupView } from "./group-view.ts";

/** Lists the groups of a network. */
export async function listGroups(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof groupsContract.list>,
): Outcome<typeof groupsContract.list> {
  const { db } = deps.database;
  const { networkId, q } = input;
  const name = `groups?network=${networkId}&q=${q ?? ""}`;
  const request = pageRequest(deps, name, input);
  if (!request.ok) return request;
  if (!(await findNetwork(db, networkId))) return err({ code: "not_found", what: "network" });
  const page = await readGroups(db, { ...request.value, networkId, q });
  return ok({
    items: page.rows.map(groupView),
    nextCursor: nextCursor(deps, { name, sort: input.sort }, page.next),
    ...(input.count && { total: await countGroups(db, networkId, q) }),
  });
}
