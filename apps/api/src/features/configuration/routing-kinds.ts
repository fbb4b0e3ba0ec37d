import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Failure } from "../../domain/failure.ts";
import { parseRoutePrefix } from "../../domain/route.ts";
import { contracts } from "../../registry/contracts.ts";
import type { PartOf } from "./document.ts";
import type { Kind } from "./kind.ts";
import { everything, fault, groupIdsOf, networkIdOf } from "./work.ts";
import type { Place, Work } from "./work.ts";

export const routeApproversKind: Kind<PartOf<"routeApprovers">, Place> = {
  kind: "routeApprovers",
  keyOf: ({ group, prefix }) => `${plainPrefix(prefix)} for ${group.toLowerCase()}`,
  async read(work, place) {
    const all = await everything(work, contracts.routeApprovers.list, { networkId: networkIdOf(place) });
    if (!all.ok) return all;
    return ok(
      all.value.map(({ id, groupId, prefix }) => ({ id, item: { group: place.groups.nameOf(groupId), prefix } })),
    );
  },
  async create(work, place, { group, prefix }) {
    const ids = groupIdsOf(place, [group]);
    if (!ids.ok) return ids;
    const input = { networkId: networkIdOf(place), groupId: ids.value[0] ?? "", prefix };
    return work.perform(contracts.routeApprovers.create, input);
  },
  // Nothing about it can change: group and range are what it is.
  change: () => Promise.resolve(ok(undefined)),
  remove: (work, _place, { id }) => work.perform(contracts.routeApprovers.remove, { routeApproverId: id }),
  adopt: (wanted, before) => before ?? { ...wanted, prefix: plainPrefix(wanted.prefix) },
  dangers: (_before, after) =>
    after && isEverything(after.prefix) ? ["peers of the group become exit nodes without anybody's approval"] : [],
};

export const routesKind: Kind<PartOf<"routes">, Place> = {
  kind: "routes",
  keyOf: ({ peer, prefix }) => `${plainPrefix(prefix)} behind ${peer}`,
  async read(work, place) {
    const all = await everything(work, contracts.routes.list, { networkId: networkIdOf(place) });
    if (!all.ok) return all;
    return ok(
      all.value.map(({ id, peerId, prefix, description, masquerade, priority, state }) => ({
        id,
        item: { peer: place.peers.nameOf(peerId), prefix, description, masquerade, priority, state },
      })),
    );
  },
  async create(work, place, { peer, state, ...item }) {
    const peerId = place.peers.idOf(peer);
    if (peerId === undefined) return err(fault(`${place.network}/routes`, noPeer(peer)));
    const made = await work.perform(contracts.routes.create, { peerId, ...item });
    return made.ok && state === "approved" ? approve(work, made.value.id) : made;
  },
  async change(work, place, { id, before, after }) {
    if (before.state === "approved" && after.state === "pending") {
      const removed = await work.perform(contracts.routes.remove, { routeId: id });
      return removed.ok ? routesKind.create(work, place, after) : removed;
    }
    const { description, masquerade, priority } = after;
    const changed = await work.perform(contracts.routes.update, { routeId: id, description, masquerade, priority });
    return changed.ok && before.state !== after.state ? approve(work, id) : changed;
  },
  remove: (work, _place, { id }) => work.perform(contracts.routes.remove, { routeId: id }),
  adopt: (wanted) => ({ ...wanted, prefix: plainPrefix(wanted.prefix) }),
  waitsFor: ({ peer }, place) => (place.peers.idOf(peer) === undefined ? noPeer(peer) : undefined),
  dangers(before, after) {
    if (!after) return before?.state === "approved" ? ["nothing leads to this range through this peer any more"] : [];
    const opens = after.state === "approved" && before?.state !== "approved";
    return opens ? [isEverything(after.prefix) ? "the peer becomes an exit node" : "packets go into this range"] : [];
  },
};

function approve(work: Work, routeId: string): Promise<Result<unknown, Failure>> {
  return work.perform(contracts.routes.approve, { routeId });
}

/** A range as the server writes it; what is none stays, and is refused later. */
function plainPrefix(text: string): string {
  const read = parseRoutePrefix(text.trim());
  return read.ok ? read.value : text;
}

function isEverything(prefix: string): boolean {
  return prefix.endsWith("/0");
}

function noPeer(name: string): string {
  return `there is no peer ${name} in this network`;
}
