import { describe, expect, test } from "vitest";

import { createPeerChooser } from "./choose-peers.ts";

const peers = (totals: readonly number[]) => totals.map((total, key) => ({ key, total: BigInt(total) }));

describe("which peers a report carries", () => {
  test("AP-61 never more than allowed, the most changed first", () => {
    const chooser = createPeerChooser<number>(5);
    chooser.choose(peers(Array.from({ length: 10 }, () => 0)));

    const chosen = chooser.choose(peers([0, 50, 0, 90, 10, 70, 0, 0, 30, 0]));

    expect(chosen).toHaveLength(5);
    expect(chosen.slice(0, 4)).toEqual([3, 5, 1, 8]);
  });

  test("AP-61 the rest comes in turn: everybody is reported within a bounded number of rounds", () => {
    const chooser = createPeerChooser<number>(5);
    const seen = new Set<number>();

    // Peers 0 to 9 are busy all the time, 10 to 29 are quiet.
    for (let round = 1; round <= 40; round += 1) {
      for (const key of chooser.choose(peers(Array.from({ length: 30 }, (_, key) => (key < 10 ? round * 1000 : 1)))))
        seen.add(key);
    }

    expect(seen.size).toBe(30);
  });

  test("a change counts since the peer was last reported, not since the last round", () => {
    const chooser = createPeerChooser<number>(1);
    chooser.choose(peers([0, 0]));

    const chosen = [
      chooser.choose(peers([10, 9])),
      chooser.choose(peers([11, 18])),
      chooser.choose(peers([12, 18])),
    ].flat();

    expect(new Set(chosen)).toEqual(new Set([0, 1]));
  });

  test("fewer peers than places are all reported", () => {
    expect(new Set(createPeerChooser<number>(20).choose(peers([1, 0, 3])))).toEqual(new Set([0, 1, 2]));
  });
});
