/** Activity of one peer: a number that grows with every packet it sends, receives or loses. */
export type PeerActivity<Key> = { readonly key: Key; readonly total: bigint };

/** Chooses which peers the next report carries. */
export type PeerChooser<Key> = {
  /** At most `peersMax` keys: those that changed most since they were last reported, the rest in turn. */
  readonly choose: (activities: readonly PeerActivity<Key>[]) => Key[];
  /** Everything counts as unreported again. */
  readonly reset: () => void;
};

/** Memory is one number per peer that is still there. */
export function createPeerChooser<Key>(peersMax: number): PeerChooser<Key> {
  let reported = new Map<Key, { readonly total: bigint; readonly round: number }>();
  let round = 0;
  // A few places are always for those that wait longest, so that a busy crowd cannot hide a quiet peer.
  const inTurn = Math.max(1, Math.floor(peersMax / 5));
  return {
    choose(activities) {
      round += 1;
      const entries = activities.map(({ key, total }) => {
        const before = reported.get(key);
        return { key, total, change: total - (before?.total ?? 0n), lastRound: before?.round ?? 0 };
      });
      const busiest = entries
        .filter((entry) => entry.change > 0n)
        .sort((a, b) => (a.change === b.change ? 0 : a.change < b.change ? 1 : -1));
      const chosen = new Map(busiest.slice(0, peersMax - inTurn).map((entry) => [entry.key, entry]));
      const waiting = entries.filter((entry) => !chosen.has(entry.key)).sort((a, b) => a.lastRound - b.lastRound);
      for (const entry of waiting.slice(0, peersMax - chosen.size)) chosen.set(entry.key, entry);
      reported = new Map(
        entries.map((entry) => {
          const before = { total: entry.total - entry.change, round: entry.lastRound };
          return [entry.key, chosen.has(entry.key) ? { total: entry.total, round } : before];
        }),
      );
      return [...chosen.keys()];
    },
    reset() {
      reported = new Map();
    },
  };
}
