import { listNetworks as readNetworks } from "../../db/networks-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { networkView } from "../../registry/views.ts";
import { networksSpec } from "./contract.ts";
import type { networksContract } from "./contract.ts";

/** Lists the networks that the caller may see. */
export async function listNetworks(
  deps: FeatureDeps,
  { actor }: Call,
  input: InputOf<typeof networksContract.list>,
): Outcome<typeof networksContract.list> {
  const isBound = "userId" in actor && actor.role === "none";
  const only = isBound ? actor.networkRoles.map(({ networkId }) => networkId) : undefined;
  return answerList(deps, {
    spec: networksSpec,
    scope: only === undefined ? "" : JSON.stringify(only.toSorted()),
    input,
    read: (request) => readNetworks(deps.database.db, only, request),
    view: (network) => networkView(network, deps.live),
  });
}
