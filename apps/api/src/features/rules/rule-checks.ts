import { err, ok } from "@weft/protocol";
import type { NetworkId, Result } from "@weft/protocol";
import type { Executor } from "../../db/client.ts";
import { unknownGroups } from "../../db/groups-repository.ts";
import { peersNamed } from "../../db/peers-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import type { PolicyRule } from "../../domain/policy-rule.ts";

type Sides = Pick<PolicyRule, "source" | "destination">;

/** True for a rule that lets everything pass between all. */
export function isOpen(rule: Sides & Pick<PolicyRule, "action" | "protocol">): boolean {
  const { action, protocol, source, destination } = rule;
  return action === "allow" && protocol === null && source.kind === "all" && destination.kind === "all";
}

/** Refuses groups and peers that the network does not have, with the field to change. */
export async function checkSides(db: Executor, networkId: NetworkId, rule: Sides): Promise<Result<void, Failure>> {
  for (const field of ["source", "destination"] as const) {
    const side = rule[field];
    if (side.kind === "all") continue;
    const isThere =
      side.kind === "group"
        ? (await unknownGroups(db, networkId, [side.id])).length === 0
        : (await peersNamed(db, networkId, [side.id])).length === 1;
    const reason = `there is no ${side.kind} ${side.id} in this network`;
    if (!isThere) return err({ code: "rule_fault", field, reason });
  }
  return ok(undefined);
}
