import { changedAddressSet, hostPrefix, toAddressSet } from "@weft/protocol";
import type { AddressSet, Prefix } from "@weft/protocol";
import type { Peer } from "./peer.ts";
import { routeKind } from "./route.ts";

/** Addresses of the active peers behind each selector; a change of a peer costs no look at the others. */
export type AddressBook = {
  readonly of: (place: number) => AddressSet;
  readonly change: (before: Peer | undefined, after: Peer | undefined) => void;
};

/** `placesOf` tells which selectors name a peer. */
export function createAddressBook(members: Iterable<Peer>, placesOf: (peer: Peer) => Iterable<number>): AddressBook {
  const entries = new Map<number, Entry>();
  const entryOf = (place: number): Entry => {
    const entry = entries.get(place) ?? { holders: new Map(), set: [] };
    entries.set(place, entry);
    return entry;
  };
  const contributions = (peer: Peer | undefined) =>
    peer?.state === "active" ? [...placesOf(peer)].map((place) => [place, addressesOf(peer)] as const) : [];
  for (const peer of members) {
    for (const [place, prefixes] of contributions(peer)) hold(entryOf(place), prefixes);
  }
  for (const entry of entries.values()) entry.set = toAddressSet(entry.holders.keys());
  return {
    of: (place) => entryOf(place).set,
    change(before, after) {
      const touched = new Map<number, { readonly added: Prefix[]; readonly removed: Prefix[] }>();
      const at = (place: number) => {
        const known = touched.get(place) ?? { added: [], removed: [] };
        touched.set(place, known);
        return known;
      };
      for (const [place, prefixes] of contributions(before)) at(place).removed.push(...letGo(entryOf(place), prefixes));
      for (const [place, prefixes] of contributions(after)) at(place).added.push(...hold(entryOf(place), prefixes));
      for (const [place, change] of touched) {
        const entry = entryOf(place);
        entry.set = changedAddressSet(entry.set, change);
      }
    },
  };
}

/** A peer stands for its own addresses and for the ranges behind it, but not for the internet behind an exit node. */
export function addressesOf({ ipv4, ipv6, routes }: Peer): Prefix[] {
  const behind = routes.filter((prefix) => routeKind({ prefix }) === "subnet");
  return [...[ipv4, ipv6].flatMap((address) => (address ? [hostPrefix(address)] : [])), ...behind];
}

/** How many peers stand behind an address: routers of one range share it. */
type Entry = { readonly holders: Map<Prefix, number>; set: AddressSet };

/** Answers the prefixes that nobody stood behind before. */
function hold({ holders }: Entry, prefixes: readonly Prefix[]): Prefix[] {
  return prefixes.filter((prefix) => {
    const count = holders.get(prefix) ?? 0;
    holders.set(prefix, count + 1);
    return count === 0;
  });
}

/** Answers the prefixes that nobody stands behind any more. */
function letGo({ holders }: Entry, prefixes: readonly Prefix[]): Prefix[] {
  return prefixes.filter((prefix) => {
    const count = holders.get(prefix) ?? 0;
    if (count > 1) holders.set(prefix, count - 1);
    else holders.delete(prefix);
    return count === 1;
  });
}
