import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { primitivesContract } from "../contract/primitives-contract.ts";
import { createNoblePrimitives } from "./noble-primitives.ts";
import { createNodePrimitives } from "./node-primitives.ts";

describe("node primitives", () => {
  const node = createNodePrimitives();
  primitivesContract(node);

  test("survive 20,000 key imports and agreements in one loop", () => {
    const own = node.importPrivateKey(randomBytes(32));
    let agreed = 0;

    for (let round = 0; round < 10_000; round += 1) {
      const ephemeral = node.importPrivateKey(randomBytes(32));
      if (own.agree(node.importPublicKey(ephemeral.publicKey.bytes))) agreed += 1;
    }

    expect(agreed).toBe(10_000);
  });

  test("agree with the plain JavaScript implementation on random input", () => {
    const noble = createNoblePrimitives();

    for (let round = 0; round < 20; round += 1) {
      const [key, mine, theirs] = [randomBytes(32), randomBytes(32), randomBytes(32)];
      const text = randomBytes(round * 13);
      const box = { key, nonce: randomBytes(12), text, associated: randomBytes(32) };

      expect(bytes(node.seal(box))).toEqual(noble.seal(box));
      expect(bytes(node.hmac(key, text, key))).toEqual(noble.hmac(key, text, key));
      expect(bytes(node.hash(text, key))).toEqual(noble.hash(text, key));
      const shared = node.importPrivateKey(mine).agree(node.importPrivateKey(theirs).publicKey);
      expect(bytes(shared)).toEqual(noble.importPrivateKey(mine).agree(noble.importPrivateKey(theirs).publicKey));
    }
  });
});

/** Drops Buffer, so that content alone is compared. */
function bytes(value: Uint8Array | null): Uint8Array | null {
  return value && new Uint8Array(value);
}
