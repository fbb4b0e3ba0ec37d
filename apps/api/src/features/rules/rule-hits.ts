import { err, ok } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import { hitsOfNetwork } from "../../db/rule-hits-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { rulesContract } from "./contract.ts";

/** Shows what met each rule of a network. */
export async function showRuleHits(
  deps: FeatureDeps,
  _call: Call,
  { networkId }: InputOf<typeof rulesContract.hits>,
): Outcome<typeof rulesContract.hits> {
  const { db } = deps.database;
  if (!(await findNetwork(db, networkId))) return err({ code: "not_found", what: "network" });
  const hits = await hitsOfNetwork(db, networkId);
  return ok({
    items: hits.map(({ ruleId, packets, bytes, drops, flows, lastHitAt }) => ({
      ruleId,
      packets: String(packets),
      bytes: String(bytes),
      drops: String(drops),
      flows: String(flows),
      lastHitAt: lastHitAt?.toISOString() ?? null,
    })),
  });
}
