import { parseEndpoint, parsePrefix, type PublicKey, publicKeyFromBytes, type Result, Secret } from "@weft/protocol";
import { describe, expect, test } from "vitest";
import type { TunnelPeer } from "../tunnel.ts";
import { changesOf, mapDiff } from "./map-diff.ts";

describe("map diff", () => {
  test("says nothing about peers that stay as they are, even when every object is new", () => {
    expect(mapDiff(having(aPeer(1), aPeer(2)), [aPeer(2), aPeer(1)])).toEqual([]);
  });

  test("removes first, then updates and adds", () => {
    const moved = { ...aPeer(2), endpoints: [must(parseEndpoint("192.0.2.99:1"))] };

    const steps = mapDiff(having(aPeer(1), aPeer(2)), [moved, aPeer(3)]);

    expect(steps).toEqual([
      { kind: "remove", publicKey: keyOf(1) },
      { kind: "update", peer: moved, fields: new Set(["endpoints"]) },
      { kind: "add", peer: aPeer(3) },
    ]);
  });

  test.each([
    { field: "presharedKey", change: { presharedKey: new Secret(new Uint8Array(32).fill(1)) } },
    { field: "allowedIps", change: { allowedIps: [must(parsePrefix("10.9.0.0/16"))] } },
    { field: "endpoints", change: { endpoints: [] } },
    { field: "keepalive", change: { keepaliveSeconds: 25 } },
  ])("names the changed field $field and no other", ({ field, change }) => {
    const next = { ...aPeer(1), ...change };

    expect(mapDiff(having(aPeer(1)), [next])).toEqual([{ kind: "update", peer: next, fields: new Set([field]) }]);
  });

  test("the order of allowed prefixes does not matter, the order of endpoints does", () => {
    const prefixes = [must(parsePrefix("10.0.0.0/8")), must(parsePrefix("fd00::/8"))];
    const endpoints = [must(parseEndpoint("192.0.2.1:1")), must(parseEndpoint("192.0.2.2:1"))];
    const known = { ...aPeer(1), allowedIps: prefixes, endpoints };

    expect(mapDiff(having(known), [{ ...known, allowedIps: prefixes.toReversed() }])).toEqual([]);
    expect(mapDiff(having(known), [{ ...known, endpoints: endpoints.toReversed() }])).toHaveLength(1);
  });

  test("equal preshared keys in different objects are equal", () => {
    const withKey = (): TunnelPeer => ({ ...aPeer(1), presharedKey: new Secret(new Uint8Array(32).fill(7)) });

    expect(mapDiff(having(withKey()), [withKey()])).toEqual([]);
  });

  test("a peer named twice counts once, and being named wins over being removed", () => {
    const changes = { upserts: [aPeer(1), { ...aPeer(1), keepaliveSeconds: 9 }], removals: [keyOf(1), keyOf(5)] };

    expect(changesOf(having(aPeer(1)), changes)).toEqual([
      { kind: "update", peer: { ...aPeer(1), keepaliveSeconds: 9 }, fields: new Set(["keepalive"]) },
    ]);
  });
});

function having(...peers: readonly TunnelPeer[]): ReadonlyMap<PublicKey, TunnelPeer> {
  return new Map(peers.map((peer) => [peer.publicKey, peer]));
}

function aPeer(number: number): TunnelPeer {
  return {
    publicKey: keyOf(number),
    allowedIps: [must(parsePrefix(`100.64.0.${number}/32`))],
    endpoints: [must(parseEndpoint(`192.0.2.${number}:51820`))],
    keepaliveSeconds: 0,
  };
}

function keyOf(number: number): PublicKey {
  return must(publicKeyFromBytes(new Uint8Array(32).fill(number)));
}

function must<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error("a literal of this test is wrong");
  return result.value;
}
