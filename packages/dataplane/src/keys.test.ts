import { isPublicKey, Secret } from "@weft/protocol";
import { expect, test } from "vitest";
import { generateKeyPair, publicKeyOf } from "./keys.ts";

test("makes clamped keys, each another one, with the right public half", () => {
  const pairs = Array.from({ length: 20 }, generateKeyPair);

  for (const { privateKey, publicKey } of pairs) {
    const bytes = privateKey.expose();
    expect([(bytes[0] ?? 0) & 7, (bytes[31] ?? 0) >> 6]).toEqual([0, 1]);
    expect(isPublicKey(publicKey)).toBe(true);
    expect(publicKeyOf(privateKey)).toBe(publicKey);
  }
  expect(new Set(pairs.map(({ publicKey }) => publicKey)).size).toBe(20);
});

test("derives the public key of RFC 7748 and refuses a key of another length", () => {
  const secret = Buffer.from("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a", "hex");

  expect(publicKeyOf(new Secret(secret))).toBe("hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=");
  expect(() => publicKeyOf(new Secret(secret.subarray(1)))).toThrow("32 bytes");
});
