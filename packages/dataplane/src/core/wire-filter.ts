import type { AddressSet, FilterRule } from "@weft/protocol";
import type { WireFilter, WirePrefix, WireRule } from "./engine-port.ts";
import { wirePrefix } from "./wire-address.ts";

/** Rules as the engine reads them; each address set goes along once. A rule with an empty list of ports matches nothing. */
export function wireFilter(rules: readonly FilterRule[]): WireFilter {
  const sets: (readonly WirePrefix[])[] = [];
  const places = new Map<AddressSet, number>();
  const byContent = new Map<string, number>();
  const placeOf = (set: AddressSet | null): number | null => {
    if (!set) return null;
    const known = places.get(set);
    if (known !== undefined) return known;
    const content = set.join();
    const place = byContent.get(content) ?? sets.push(set.map(wirePrefix)) - 1;
    places.set(set, place);
    byContent.set(content, place);
    return place;
  };
  const wireRules = rules
    .filter(({ ports }) => !ports || ports.length > 0)
    .map((rule): WireRule => ({
      id: rule.id,
      action: rule.action,
      direction: rule.direction,
      protocol: rule.protocol,
      source: placeOf(rule.source),
      destination: placeOf(rule.destination),
      ports: rule.ports ?? [],
      icmp: rule.icmp ?? null,
      replies: rule.replies ?? "pass",
    }));
  return { sets, rules: wireRules };
}
