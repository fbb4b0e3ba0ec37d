import { err, ok } from "@weft/protocol";
import type { PeerId, Result } from "@weft/protocol";
import { compilePolicy, createFilters, openingRules } from "./access-policy.ts";
import { filterKey } from "./filter-key.ts";
import type { AccessPolicy, PolicyClass } from "./access-policy.ts";
import type { Peer } from "./peer.ts";
import type { PolicyRule } from "./policy-rule.ts";

/** Peers of which one may begin something with the other. */
export type Pair = { readonly from: PeerId; readonly to: PeerId };
export type Pairs = { readonly total: number; readonly first: readonly Pair[] };

/** What a change of the rules means for the members of a network. */
export type PolicyDifference = {
  readonly affected: readonly PeerId[];
  readonly gained: Pairs;
  readonly lost: Pairs;
};

/** How often a rule would have to be held against a pair of sets of peers. */
type TooMuchWork = { readonly wanted: number; readonly limit: number };

/** More questions than this are some seconds of a core; then nothing is asked. */
export const DIFFERENCE_WORK_MAX = 50_000_000;

/**
 * Compares what two lists of rules let the active peers do. Peers that rules treat alike are asked about once. Many rules
 * that tell many peers apart are work of seconds: `pause` comes between its parts, so that others get their turn.
 */
export async function policyDifference(
  before: readonly PolicyRule[],
  after: readonly PolicyRule[],
  { members, pause }: { readonly members: readonly Peer[]; readonly pause: () => Promise<void> },
): Promise<Result<PolicyDifference, TooMuchWork>> {
  const active = members.filter(({ state }) => state === "active");
  const [old, fresh] = [compilePolicy(before), compilePolicy(after)];
  const [oldFilters, freshFilters] = [createFilters(old, () => active), createFilters(fresh, () => active)];
  const gained = createPairs();
  const lost = createPairs();
  const changed = new Set<PeerId>();
  const sets = alike(active, [old, fresh]);
  const wanted = sets.length ** 2 * (old.rules.length + fresh.rules.length);
  if (wanted > DIFFERENCE_WORK_MAX) return err({ wanted, limit: DIFFERENCE_WORK_MAX });
  for (const from of sets) {
    await pause();
    const [one] = from;
    if (!one) continue;
    if (filterKey(oldFilters.of(one)) !== filterKey(freshFilters.of(one))) for (const { id } of from) changed.add(id);
    for (const to of sets) {
      const [other] = to;
      if (!other) continue;
      const was = opens(old, old.classOf(one), old.classOf(other));
      const is = opens(fresh, fresh.classOf(one), fresh.classOf(other));
      if (was !== is) (is ? gained : lost).add(from, to);
    }
  }
  return ok({ affected: [...changed], gained: gained.result(), lost: lost.result() });
}

function opens(policy: AccessPolicy, from: PolicyClass, to: PolicyClass): boolean {
  return openingRules(policy, from, to).length > 0;
}

/** Members in sets that none of the policies tells apart. */
function alike(members: readonly Peer[], policies: readonly AccessPolicy[]): readonly (readonly Peer[])[] {
  const sets = new Map<string, Peer[]>();
  for (const peer of members) {
    const key = policies.map((policy) => policy.classOf(peer).number).join();
    const set = sets.get(key) ?? [];
    set.push(peer);
    sets.set(key, set);
  }
  return [...sets.values()];
}

function createPairs() {
  let total = 0;
  const first: Pair[] = [];
  return {
    add(from: readonly Peer[], to: readonly Peer[]) {
      total += from.length * to.length - (from === to ? from.length : 0);
      for (const one of from) {
        for (const other of to) {
          if (first.length >= PAIRS_MAX) return;
          if (one.id !== other.id) first.push({ from: one.id, to: other.id });
        }
      }
    },
    result: (): Pairs => ({ total, first }),
  };
}

/** So many pairs are named; the others are counted. */
const PAIRS_MAX = 200;
