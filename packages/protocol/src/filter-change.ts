import type { Prefix } from "./addresses.ts";
import type { AddressSet, AddressSetChange, FilterRule, MapDelta } from "./network-map.ts";

/** Each address once, in the one order in which sets are compared, sent and changed. */
export function toAddressSet(prefixes: Iterable<Prefix>): AddressSet {
  return [...new Set(prefixes)].toSorted(byText);
}

/** What makes the one set out of the other. Both are in the order of `toAddressSet`. */
export function addressSetDifference(
  before: AddressSet,
  after: AddressSet,
): { readonly added: AddressSet; readonly removed: AddressSet } {
  const [old, fresh] = [new Set(before), new Set(after)];
  return { added: after.filter((prefix) => !old.has(prefix)), removed: before.filter((prefix) => !fresh.has(prefix)) };
}

/** The filter after a delta; rules that shared a set share the changed one. */
export function filterAfter(
  filter: readonly FilterRule[],
  delta: Pick<MapDelta, "filter" | "filterSets">,
): readonly FilterRule[] {
  if (delta.filter) return delta.filter;
  if (!delta.filterSets || delta.filterSets.length === 0) return filter;
  const changes = new Map(delta.filterSets.map((change) => [change.set, change]));
  const made = new Map<AddressSetChange, AddressSet>();
  const after = (set: AddressSet | null, number: number | undefined): AddressSet | null => {
    const change = number === undefined ? undefined : changes.get(number);
    if (!set || !change) return set;
    const known = made.get(change) ?? changedAddressSet(set, change);
    made.set(change, known);
    return known;
  };
  return filter.map((rule) => {
    const source = after(rule.source, rule.sourceSet);
    const destination = after(rule.destination, rule.destinationSet);
    return source === rule.source && destination === rule.destination ? rule : { ...rule, source, destination };
  });
}

/** Numbers by which a change may name sets of this filter. */
export function setNumbersOf(filter: readonly FilterRule[]): ReadonlySet<number> {
  const numbers = filter.flatMap(({ sourceSet, destinationSet }) => [sourceSet, destinationSet]);
  return new Set(numbers.filter((number) => number !== undefined));
}

/** A set after a change, in the order of `toAddressSet`. */
export function changedAddressSet(
  set: AddressSet,
  { added, removed }: Pick<AddressSetChange, "added" | "removed">,
): AddressSet {
  const gone = new Set(removed);
  return toAddressSet([...set.filter((prefix) => !gone.has(prefix)), ...added]);
}

function byText(left: Prefix, right: Prefix): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
