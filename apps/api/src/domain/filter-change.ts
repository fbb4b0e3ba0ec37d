import { addressSetDifference } from "@weft/protocol";
import type { AddressSet, AddressSetChange, FilterRule } from "@weft/protocol";
import { setKey } from "./filter-key.ts";

/**
 * What makes the one filter out of the other when only numbered sets differ; `undefined` when the whole filter has to be
 * said, or is shorter. Nodes of a class share filters, so that each pair is compared once for all of them.
 */
export function filterChange(
  before: readonly FilterRule[],
  after: readonly FilterRule[],
): readonly AddressSetChange[] | undefined {
  const known = CHANGES.get(before)?.get(after);
  if (known) return known.changes;
  const changes = compare(before, after);
  const row = CHANGES.get(before) ?? new WeakMap();
  row.set(after, { changes });
  CHANGES.set(before, row);
  return changes;
}

function compare(before: readonly FilterRule[], after: readonly FilterRule[]): readonly AddressSetChange[] | undefined {
  if (skeletonOf(before) !== skeletonOf(after)) return undefined;
  const [old, fresh] = [setsOf(before), setsOf(after)];
  const changes: AddressSetChange[] = [];
  let [changed, whole] = [0, 0];
  for (const [set, addresses] of fresh) {
    const difference = addressSetDifference(old.get(set) ?? [], addresses);
    const size = difference.added.length + difference.removed.length;
    whole += addresses.length;
    changed += size;
    if (size > 0) changes.push({ set, ...difference });
  }
  return changes.length > 0 && changed <= Math.max(whole, ALWAYS_CHANGED) ? changes : undefined;
}

/** Everything of a filter but the addresses of its numbered sets. */
function skeletonOf(filter: readonly FilterRule[]): string {
  const known = SKELETONS.get(filter);
  if (known !== undefined) return known;
  const bare = filter.map((rule) => ({
    ...rule,
    source: rule.sourceSet === undefined ? setKey(rule.source) : "numbered",
    destination: rule.destinationSet === undefined ? setKey(rule.destination) : "numbered",
  }));
  const skeleton = JSON.stringify(bare);
  SKELETONS.set(filter, skeleton);
  return skeleton;
}

function setsOf(filter: readonly FilterRule[]): ReadonlyMap<number, AddressSet> {
  const sets = new Map<number, AddressSet>();
  for (const { source, sourceSet, destination, destinationSet } of filter) {
    if (source && sourceSet !== undefined) sets.set(sourceSet, source);
    if (destination && destinationSet !== undefined) sets.set(destinationSet, destination);
  }
  return sets;
}

type Compared = { readonly changes: readonly AddressSetChange[] | undefined };
const CHANGES = new WeakMap<readonly FilterRule[], WeakMap<readonly FilterRule[], Compared>>();
const SKELETONS = new WeakMap<readonly FilterRule[], string>();
/** So few addresses are always worth a change: the rules themselves need not be said again. */
const ALWAYS_CHANGED = 64;
