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
  /** Whether hosts of the range see the router's address in place of the sender's. */
  readonly masquerade: boolean;
  /** Among several ways to one range the lowest is preferred. */
  readonly priority: number;
  /** Whether maps lead to the range this way. */
  readonly active: boolean;
};

/** A route to everything is an exit node: peers use it when they chose it. */
export function routeKind({ prefix }: Pick<Route, "prefix">): "subnet" | "exit" {
  return prefixParts(prefix).length === 0 ? "exit" : "subnet";
}

/** Something else that has addresses of a route, and what that means. */
export type RouteConflict = {
  readonly kind: "same" | "wider" | "narrower" | "network";
  /** The other range. */
  readonly prefix: Prefix;
  /** The route that has it; none for a range of a network. */
  readonly routeId: RouteId | null;
  readonly warning: string;
};

/** Reads the range of a route and refuses what cannot be one. */
export function parseRoutePrefix(text: string): Result<Prefix, Failure> {
  const refuse = (detail: string) => err({ code: "range_invalid", range: text, detail } as const);
  const prefix = parsePrefix(text);
  if (!prefix.ok) return refuse(prefix.error.detail);
  const { length } = prefixParts(prefix.value);
  if (length === 0) return prefix;
  const unusable = UNUSABLE_RANGES.find((range) => prefixesOverlap(range, prefix.value));
  return unusable ? refuse(`overlaps ${unusable}, which hosts use for other things`) : ok(prefix.value);
}

/** What a route would share addresses with: other routes, and the ranges of networks by name. */
export function routeConflicts(
  prefix: Prefix,
  others: readonly Pick<Route, "id" | "prefix">[],
  ranges: readonly { readonly range: Prefix; readonly network: string }[],
): readonly RouteConflict[] {
  // An exit node takes what nothing else names, so it is in nobody's way.
  if (routeKind({ prefix }) === "exit") return [];
  const shared = others.filter((other) => routeKind(other) === "subnet" && prefixesOverlap(prefix, other.prefix));
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
    return {
      kind: "same",
      warning: `another peer has ${other}, too; they stand in for each other, and one of them is used at a time`,
    };
  if (own > theirs)
    return { kind: "wider", warning: `${prefix} is a part of ${other} and takes its packets out of it` };
  return { kind: "narrower", warning: `${other} is a part of ${prefix} and keeps its packets` };
}
