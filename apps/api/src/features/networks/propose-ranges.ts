import { allNetworks } from "../../db/networks-repository.ts";
import { proposeRanges as propose } from "../../domain/new-network.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { Outcome } from "../../registry/handler.ts";
import type { networksContract } from "./contract.ts";

/** Proposes ranges for a new network. */
export async function proposeRanges(deps: FeatureDeps): Outcome<typeof networksContract.propose> {
  return propose(await allNetworks(deps.database.db), deps.random);
}
