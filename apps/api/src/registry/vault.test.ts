import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createVault } from "./vault.ts";

const key = randomBytes(32);

test("what is sealed opens for its purpose, and looks different each time", () => {
  const vault = createVault(key);
  const [one, two] = [vault.seal("totp user_1", "a secret"), vault.seal("totp user_1", "a secret")];

  expect(createVault(key).open("totp user_1", one)).toBe("a secret");
  expect(one).not.toBe(two);
  expect(one).not.toContain("a secret");
});

test("it opens for no other purpose, under no other key, and not when a character changed", () => {
  const sealed = createVault(key).seal("totp user_1", "a secret");
  const changed = sealed.slice(0, 20) + (sealed[20] === "A" ? "B" : "A") + sealed.slice(21);

  expect(() => createVault(key).open("totp user_2", sealed)).toThrow(/authenticate/);
  expect(() => createVault(randomBytes(32)).open("totp user_1", sealed)).toThrow(/authenticate/);
  expect(() => createVault(key).open("totp user_1", changed)).toThrow(/authenticate/);
  expect(() => createVault(key).open("totp user_1", "plain text")).toThrow("not from a vault");
});
