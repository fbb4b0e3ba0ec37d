import { expect, test } from "vitest";
import { shortKey } from "./short-key.ts";

test("keeps both ends of a long key", () => {
  expect(shortKey("rMwYC7ZxG5vQpQ2nJ0oQb7yC0pXk1n0m6uJ7p4h2k1E=")).toBe("rMwYC7Z…2k1E=");
});

test("leaves a short text alone", () => {
  expect(shortKey("7f3a:91c2")).toBe("7f3a:91c2");
});
