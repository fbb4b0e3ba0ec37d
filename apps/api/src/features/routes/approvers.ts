import { err, groupIds, ok, routeApproverIds } from "@weft/protocol";
import { isDuplicate } from "../../db/client.ts";
import { unknownGroups } from "../../db/groups-repository.ts";
import { findNetwork, lockNetwork } from "../../db/networks-repository.ts";
import {
  deleteApprover,
  findApprover,
  insertApprover,
  listApprovers as readApprovers,
} from "../../db/route-approvers-repository.ts";
import type { StoredApprover } from "../../db/route-approvers-repository.ts";
import { transact } from "../../db/transact.ts";
import { parseRoutePrefix } from "../../domain/route.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { routeApproversSpec } from "./contract.ts";
import type { routeApproversContract } from "./contract.ts";

/** Lists what approves routes by itself, newest first unless the caller wants another order. */
export async function listApprovers(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof routeApproversContract.list>,
): Outcome<typeof routeApproversContract.list> {
  const { db } = deps.database;
  const network = await findNetwork(db, input.networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  return answerList(deps, {
    spec: routeApproversSpec,
    scope: network.id,
    input,
    read: (request) => readApprovers(db, network.id, request),
    view: approverView,
  });
}

/** Lets routes to a range be approved at once when their peer is in a group; routes that wait already go on waiting. */
export async function createApprover(
  deps: FeatureDeps,
  call: Call,
  { networkId, groupId, prefix }: InputOf<typeof routeApproversContract.create>,
): Outcome<typeof routeApproversContract.create> {
  const at = new Date(deps.clock.nowMs());
  const parsed = parseRoutePrefix(prefix);
  if (!parsed.ok) return parsed;
  const made = transact(deps.database.db, async (tx) => {
    const network = await lockNetwork(tx, networkId);
    if (!network) return err({ code: "not_found", what: "network" } as const);
    const [unknown] = await unknownGroups(tx, network.id, [groupId]);
    if (unknown !== undefined || !groupIds.is(groupId)) return err({ code: "not_found", what: "group" } as const);
    const approver: StoredApprover = {
      id: routeApproverIds.make(deps.random),
      networkId: network.id,
      groupId,
      prefix: parsed.value,
      createdAt: at,
    };
    await insertApprover(tx, approver);
    const view = approverView(approver);
    const note = { action: "routeApprovers.create", objectId: approver.id, networkId: network.id };
    await recordAudit(tx, call, { ...note, before: null, after: view, at });
    return ok(view);
  });
  return made.catch((error: unknown) => {
    if (isDuplicate(error, "route_approvers_unique"))
      return err({ code: "approver_exists", prefix: parsed.value } as const);
    throw error;
  });
}

/** Removes an approver. */
export async function removeApprover(
  deps: FeatureDeps,
  call: Call,
  { routeApproverId }: InputOf<typeof routeApproversContract.remove>,
): Outcome<typeof routeApproversContract.remove> {
  const at = new Date(deps.clock.nowMs());
  return transact(deps.database.db, async (tx) => {
    const approver = await findApprover(tx, routeApproverId);
    if (!approver) return err({ code: "not_found", what: "route approver" });
    await deleteApprover(tx, approver.id);
    const note = { action: "routeApprovers.remove", objectId: approver.id, networkId: approver.networkId };
    await recordAudit(tx, call, { ...note, before: approverView(approver), after: null, at });
    return ok(undefined);
  });
}

function approverView({ createdAt, ...approver }: StoredApprover) {
  return { ...approver, createdAt: createdAt.toISOString() };
}
