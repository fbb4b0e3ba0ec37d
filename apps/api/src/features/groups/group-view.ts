import type { GroupWithCount } from "../../db/groups-repository.ts";

/** A group as callers see it. */
export function groupView({ id, networkId, name, description, peerCount, createdAt }: GroupWithCount) {
  return { id, networkId, name, description, peerCount, createdAt: createdAt.toISOString() };
}
