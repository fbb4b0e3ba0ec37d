import { err, ok } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import { countRules, listRules as readRules } from "../../db/rules-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { nextCursor, pageRequest } from "../../registry/pages.ts";
import type { rulesContract } from "./contract.ts";
import { ruleView } from "../../registry/rule-view.ts";

/** Lists the rules of a network. */
export async function listRules(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof rulesContract.list>,
): Outcome<typeof rulesContract.list> {
  const { db } = deps.database;
  const list = { name: `rules?network=${input.networkId}`, sort: "place" } as const;
  const request = pageRequest(deps, list.name, { ...input, sort: list.sort });
  if (!request.ok) return request;
  if (!(await findNetwork(db, input.networkId))) return err({ code: "not_found", what: "network" });
  const page = await readRules(db, { ...request.value, networkId: input.networkId });
  return ok({
    items: page.rows.map(ruleView),
    nextCursor: nextCursor(deps, list, page.next),
    ...(input.count && { total: await countRules(db, input.networkId) }),
  });
}
