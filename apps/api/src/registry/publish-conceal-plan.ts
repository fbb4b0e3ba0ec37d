import type { NetworkId } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { setConcealPlan } from "../db/conceal-repository.ts";
import { publishChanges } from "../db/networks-repository.ts";
import type { ConcealChoice, ConcealPlan } from "../domain/conceal-plan.ts";
import type { Network } from "../domain/peer.ts";
import { recordAudit } from "./audit.ts";
import type { AuditNote } from "./audit.ts";

/** A plan as callers see it; settings stay here. */
export function planView(networkId: NetworkId, plan: ConcealPlan | null) {
  return {
    networkId,
    base: choiceView(plan?.base ?? null),
    next: choiceView(plan?.next ?? null),
    groupIds: [...(plan?.groupIds ?? [])],
    state: plan?.state ?? ("none" as const),
    startedAt: plan && new Date(plan.startedAtMs).toISOString(),
    watchSeconds: plan && plan.watchSeconds,
    reason: plan && plan.reason,
  };
}

export function choiceView(choice: ConcealChoice | null) {
  return choice && { profileId: choice.profileId, name: choice.name, version: choice.version };
}

/** Stores a plan, tells every node and the audit log. The network is locked. */
export async function publishPlan(
  tx: Executor,
  who: Parameters<typeof recordAudit>[1],
  change: { readonly network: Network; readonly plan: ConcealPlan; readonly note: AuditNote; readonly at: Date },
): Promise<void> {
  const { network, plan, note, at } = change;
  await setConcealPlan(tx, network.id, plan);
  await publishChanges(tx, network.id, { changes: [{ kind: "network" }], at });
  await recordAudit(tx, who, { ...note, at });
}
