import { err } from "@weft/protocol";
import { findNetwork } from "../../db/networks-repository.ts";
import { networkTraffic as readNetworkTraffic } from "../../db/traffic-repository.ts";
import { answerTraffic } from "../../registry/answer-traffic.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import type { networksContract } from "./contract.ts";

/** Shows what the peers of a network moved, step by step. */
export async function networkTraffic(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof networksContract.traffic>,
): Outcome<typeof networksContract.traffic> {
  const { db } = deps.database;
  const network = await findNetwork(db, input.networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  return answerTraffic(deps, input, (span) => readNetworkTraffic(db, network.id, span));
}
