import { peerIds } from "@weft/protocol";
import type { PeerId } from "@weft/protocol";
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { DEFAULT_NAME_SETTINGS } from "../domain/names.ts";
import { createNetworkMirror } from "./network-mirror.ts";
import type { NetworkMirror } from "./network-mirror.ts";

test("numbers of peers that came and went are given again, so that they stay as few as the members", () => {
  const mirror = emptyMirror();
  const seen = Array.from({ length: 10_000 }, () => {
    const index = mirror.indexOf(newId());
    mirror.forgetUnused(() => false);
    return index;
  });

  expect(Math.max(...seen)).toBeLessThan(100);
});

test("the number of a peer that is gone stays its own while a node was not told so", () => {
  const mirror = emptyMirror();
  const gone = newId();
  const told = mirror.makeSet();
  const index = mirror.indexOf(gone);
  told.add(index);

  const others = Array.from({ length: 10_000 }, () => {
    const other = mirror.indexOf(newId());
    mirror.forgetUnused(told.has);
    return other;
  });

  expect(others).not.toContain(index);
  expect(mirror.indexOf(gone)).toBe(index);
});

function emptyMirror(): NetworkMirror {
  const network = {
    id: "net_0000000000000000000000" as never,
    name: "office",
    ipv4Range: null,
    ipv6Range: null,
    epoch: 1n,
    sequence: 0n,
    profileFallback: "refuse",
    flowSampling: null,
    flowKeepHours: 168,
    approval: "automatic",
    membershipSeconds: null,
    idleRemovalSeconds: null,
    conceal: null,
    createdAt: new Date(0),
  } as const;
  const names = { settings: DEFAULT_NAME_SETTINGS, records: [], nameservers: [] };
  return createNetworkMirror({ network, peers: [], rules: [], names }, 0);
}

function newId(): PeerId {
  return peerIds.make((length) => randomBytes(length));
}
