import { err, ok } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { readPolicy, runTests } from "../../registry/save-policy.ts";
import type { policyContract } from "./contract.ts";
import { policyView } from "./policy-view.ts";

/** Shows the policy in force. */
export async function getPolicy(
  deps: FeatureDeps,
  _call: Call,
  { networkId }: InputOf<typeof policyContract.get>,
): Outcome<typeof policyContract.get> {
  const { db } = deps.database;
  const network = await findNetwork(db, networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  return ok(policyView(network.id, await readPolicy(db, network.id)));
}

/** Runs the tests that are stored beside the policy. */
export async function testPolicy(
  deps: FeatureDeps,
  _call: Call,
  { networkId }: InputOf<typeof policyContract.test>,
): Outcome<typeof policyContract.test> {
  const { db } = deps.database;
  const network = await findNetwork(db, networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  const results = await runTests(db, network.id, await readPolicy(db, network.id));
  return ok({ tests: [...results] });
}
