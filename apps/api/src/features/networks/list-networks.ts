import { ok } from "@weft/protocol";
import { countNetworks, listNetworks as readNetworks } from "../../db/networks-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { nextCursor, pageRequest } from "../../registry/pages.ts";
import { networkView } from "../../registry/views.ts";
import type { networksContract } from "./contract.ts";

/** Lists the networks that the caller may see. */
export async function listNetworks(
  deps: FeatureDeps,
  { actor }: Call,
  input: InputOf<typeof networksContract.list>,
): Outcome<typeof networksContract.list> {
  const { db } = deps.database;
  const isBound = "userId" in actor && actor.role === "none";
  const only = isBound ? actor.networkRoles.map(({ networkId }) => networkId) : undefined;
  const filter = { q: input.q, only };
  const name = `networks?q=${input.q ?? ""}`;
  const request = pageRequest(deps, name, input);
  if (!request.ok) return request;
  const page = await readNetworks(db, { ...request.value, ...filter });
  return ok({
    items: page.rows.map((network) => networkView(network, deps.live)),
    nextCursor: nextCursor(deps, { name, sort: input.sort }, page.next),
    ...(input.count && { total: await countNetworks(db, filter) }),
  });
}
