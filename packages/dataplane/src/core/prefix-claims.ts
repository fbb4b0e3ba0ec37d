import type { Prefix } from "@weft/protocol";

/**
 * Who holds which inner prefix when several peers claim the same: the one that claimed it last, until it lets go; then the
 * one before. So what the engine knows does not depend on the order in which changes arrived.
 */
export type PrefixClaims = {
  /** Replaces the claims of a peer. Returns the other peers that hold more than before. */
  readonly claim: (slot: number, prefixes: readonly Prefix[]) => ReadonlySet<number>;
  /** The prefixes this peer holds. */
  readonly heldBy: (slot: number) => readonly Prefix[];
};

export function createPrefixClaims(): PrefixClaims {
  const claimants = new Map<Prefix, readonly number[]>();
  const claims = new Map<number, ReadonlySet<Prefix>>();

  const letGo = (slot: number, prefix: Prefix): number | undefined => {
    const before = claimants.get(prefix) ?? [];
    const after = before.filter((claimant) => claimant !== slot);
    if (after.length === 0) claimants.delete(prefix);
    else claimants.set(prefix, after);
    return before.at(-1) === slot ? after.at(-1) : undefined;
  };

  return {
    claim(slot, prefixes) {
      const known = claims.get(slot) ?? new Set<Prefix>();
      const wanted = new Set(prefixes);
      const gainers = new Set<number>();
      for (const prefix of known) {
        if (wanted.has(prefix)) continue;
        const gainer = letGo(slot, prefix);
        if (gainer !== undefined) gainers.add(gainer);
      }
      for (const prefix of wanted) {
        if (!known.has(prefix)) claimants.set(prefix, [...(claimants.get(prefix) ?? []), slot]);
      }
      if (wanted.size === 0) claims.delete(slot);
      else claims.set(slot, wanted);
      return gainers;
    },
    heldBy: (slot) => [...(claims.get(slot) ?? [])].filter((prefix) => claimants.get(prefix)?.at(-1) === slot),
  };
}
