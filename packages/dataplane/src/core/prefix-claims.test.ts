import fc from "fast-check";
import { parsePrefix, type Prefix } from "@weft/protocol";
import { expect, test } from "vitest";
import { createPrefixClaims } from "./prefix-claims.ts";

test("the last claim holds, and the one before gets the prefix back when it ends", () => {
  const claims = createPrefixClaims();
  claims.claim(1, [A, B]);
  claims.claim(2, [B]);
  expect([claims.heldBy(1), claims.heldBy(2)]).toEqual([[A], [B]]);

  expect(claims.claim(2, [])).toEqual(new Set([1]));
  expect(claims.heldBy(1)).toEqual([A, B]);
});

test("claiming again what one already claims changes nothing", () => {
  const claims = createPrefixClaims();
  claims.claim(1, [A]);
  claims.claim(2, [A]);

  expect(claims.claim(1, [A, B])).toEqual(new Set());
  expect([claims.heldBy(1), claims.heldBy(2)]).toEqual([[B], [A]]);
});

test("nobody and never two hold a prefix, whatever the order of claims", () => {
  const step = fc.record({ slot: fc.nat(3), prefixes: fc.subarray([A, B, C]) });

  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const claims = createPrefixClaims();
      const wanted = new Map<number, readonly Prefix[]>();
      for (const { slot, prefixes } of steps) {
        claims.claim(slot, prefixes);
        wanted.set(slot, prefixes);
      }
      for (const prefix of [A, B, C]) {
        const holders = [0, 1, 2, 3].filter((slot) => claims.heldBy(slot).includes(prefix));
        const claimed = [...wanted.values()].some((prefixes) => prefixes.includes(prefix));
        expect(holders).toHaveLength(claimed ? 1 : 0);
      }
    }),
  );
});

function prefix(text: string): Prefix {
  const parsed = parsePrefix(text);
  if (!parsed.ok) throw new Error(parsed.error.detail);
  return parsed.value;
}

const A = prefix("10.0.0.0/8");
const B = prefix("10.1.0.0/16");
const C = prefix("fd00::/8");
