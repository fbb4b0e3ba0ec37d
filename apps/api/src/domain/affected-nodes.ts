import type { PeerId } from "@weft/protocol";
import { maySee } from "./access-policy.ts";
import type { AccessPolicy } from "./access-policy.ts";

/** Nodes whose map changes when `changed` does: itself and all that may see it. */
export function affectedByPeer(policy: AccessPolicy, changed: PeerId, nodes: Iterable<PeerId>): PeerId[] {
  const affected: PeerId[] = [];
  for (const node of nodes) {
    if (node === changed || maySee(policy, node, changed)) affected.push(node);
  }
  return affected;
}
