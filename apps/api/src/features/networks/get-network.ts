import { err, ok } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { networkView } from "../../registry/views.ts";
import type { networksContract } from "./contract.ts";

/** Shows one network. */
export async function getNetwork(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof networksContract.get>,
): Outcome<typeof networksContract.get> {
  const network = await findNetwork(deps.database.db, input.networkId);
  return network ? ok(networkView(network, deps.live)) : err({ code: "not_found", what: "network" });
}
