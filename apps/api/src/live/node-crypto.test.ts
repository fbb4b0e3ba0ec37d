import { nobleCrypto } from "@weft/protocol/testing";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { nodeCrypto } from "./node-crypto.ts";

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

test("two keys agree on what the plain JavaScript implementation says", () => {
  fc.assert(
    fc.property(bytes(32), (bytesOfOther) => {
      const [own, other] = [nodeCrypto.makeExchangeKey(), nobleCrypto.exchangeKeyFrom(bytesOfOther)];
      const secret = other.agree(own.publicKey) ?? [-1];

      expect([...(own.agree(other.publicKey) ?? [-2])]).toEqual([...secret]);
    }),
    { numRuns: 50 },
  );
});

test("SEC-3 keys of low order and of wrong length agree on nothing", () => {
  const own = nodeCrypto.makeExchangeKey();

  for (const theirs of [
    new Uint8Array(32),
    Uint8Array.of(1, ...new Uint8Array(31)),
    new Uint8Array(31),
    new Uint8Array(33),
  ]) {
    expect(own.agree(theirs)).toBeNull();
  }
});

test("it seals and opens exactly what the plain JavaScript implementation does", () => {
  const input = fc.tuple(bytes(32), bytes(12), fc.uint8Array({ maxLength: 3 }), fc.uint8Array({ maxLength: 300 }));
  fc.assert(
    fc.property(input, fc.nat(), ([key, nonce, head, plain], place) => {
      const [own, other] = [nodeCrypto.cipher(key), nobleCrypto.cipher(key)];
      const sealed = own.seal(nonce, head, plain);
      const changed = Uint8Array.from(sealed);
      changed[place % changed.length] = (changed[place % changed.length] ?? 0) ^ 1;

      expect([...sealed]).toEqual([...other.seal(nonce, head, plain)]);
      expect([...(own.open(nonce, head.length, sealed) ?? [-1])]).toEqual([...plain]);
      expect(own.open(nonce, head.length, changed)).toBeNull();
    }),
    { numRuns: 300 },
  );
});

test("arbitrary bytes never throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat({ max: 3 }), (sealed, headBytes) => {
      expect(nodeCrypto.cipher(new Uint8Array(32)).open(new Uint8Array(12), headBytes, sealed)).toBeNull();
    }),
    { numRuns: 300 },
  );
});
