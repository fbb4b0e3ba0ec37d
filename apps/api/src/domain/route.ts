import { err, ok, parsePrefix, prefixesOverlap, prefixParts } from "@weft/protocol";
import type { PeerId, Prefix, Result, RouteId } from "@weft/protocol";
import type { Failure } from "./failure.ts";
import { UNUSABLE_RANGES } from "./ranges.ts";

/** An address range behind a peer. */
export type Route = {
  readonly id: RouteId;
  readonly peerId: PeerId;
  readonly prefix: Prefix;
  /** Only an approved one stands in maps. */
  readonly state: "pending" | "approved";
};

/** Something else that has addresses of a route, and what that means. */
export type RouteConflict = {
  readonly kind: "same" | "wider" | "narrower" | "network";
  /** The other range. */
  readonly prefix: Prefix;
  /** The route that has it; none for a range of a network. */
  readonly routeId: RouteId | null;
  readonly warning: string;
};

/** Reads the range of a route and refuses what cannot be one. Routes to everything are exit nodes, and not routes. */
export function parseRoutePrefix(text: string): Result<Prefix, Failure> {
  const refuse = (detail: string) => err({ code: "range_invalid", range: text, detail } as const);
  const prefix = parsePrefix(text);
  if (!prefix.ok) return refuse(prefix.error.detail);
  const { length } = prefixParts(prefix.value);
  if (length === 0) return refuse("a route to everything is an exit node, not a subnet route");
  const unusable = UNUSABLE_RANGES.find((range) => prefixesOverlap(range, prefix.value));
  return unusable ? refuse(`overlaps ${unusable}, which hosts use for other things`) : ok(prefix.value);
}

/** What a route would share addresses with: other routes, and the ranges of networks by name. */
export function routeConflicts(
  prefix: Prefix,
  others: readonly Pick<Route, "id" | "prefix">[],
  ranges: readonly { readonly range: Prefix; readonly network: string }[],
): readonly RouteConflict[] {
  const shared = others.filter((other) => prefixesOverlap(prefix, other.prefix));
  return [
    ...ranges
      .filter(({ range }) => prefixesOverlap(prefix, range))
      .map(({ range, network }) => ({
        kind: "network" as const,
        prefix: range,
        routeId: null,
        warning: `${prefix} has addresses of the network ${network} (${range}); its peers would be hidden or hide it`,
      })),
    ...shared.map((other) => ({ prefix: other.prefix, routeId: other.id, ...overlapOf(prefix, other.prefix) })),
  ];
}

function overlapOf(prefix: Prefix, other: Prefix): Pick<RouteConflict, "kind" | "warning"> {
  const [own, theirs] = [prefixParts(prefix).length, prefixParts(other).length];
  if (own === theirs)
    return { kind: "same", warning: `another peer has ${other}, too; only one of them can be approved` };
  if (own > theirs)
    return { kind: "wider", warning: `${prefix} is a part of ${other} and takes its packets out of it` };
  return { kind: "narrower", warning: `${other} is a part of ${prefix} and keeps its packets` };
}
