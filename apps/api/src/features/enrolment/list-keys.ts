import { err, ok } from "@weft/protocol";
import { countEnrolmentKeys, listEnrolmentKeys } from "../../db/enrolment-keys-repository.ts";
import { findNetwork } from "../../db/networks-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { nextCursor, pageRequest } from "../../registry/pages.ts";
import type { enrolmentKeysContract } from "./contract.ts";
import { keyView } from "./key-view.ts";

/** Lists enrolment keys, newest first. */
export async function listKeys(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof enrolmentKeysContract.list>,
): Outcome<typeof enrolmentKeysContract.list> {
  const { db } = deps.database;
  const list = { name: `enrolment-keys?network=${input.networkId}`, sort: "-createdAt" } as const;
  const request = pageRequest(deps, list.name, { ...input, sort: list.sort });
  if (!request.ok) return request;
  if (!(await findNetwork(db, input.networkId))) return err({ code: "not_found", what: "network" });
  const page = await listEnrolmentKeys(db, { ...request.value, networkId: input.networkId });
  const nowMs = deps.clock.nowMs();
  return ok({
    items: page.rows.map((key) => keyView(key, nowMs)),
    nextCursor: nextCursor(deps, list, page.next),
    ...(input.count && { total: await countEnrolmentKeys(db, input.networkId) }),
  });
}
