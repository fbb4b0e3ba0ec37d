import { expect, test } from "vitest";
import { passwordStrength } from "./password-strength.ts";

test.each([
  { password: "", strength: "short" },
  { password: "Ab3$xyz", strength: "short" },
  { password: "aaaaaaaaaaaa", strength: "weak" },
  { password: "123456789012", strength: "weak" },
  { password: "abcdefghijkl", strength: "weak" },
  { password: "plum tractor", strength: "fair" },
  { password: "plum tractor 94 lake", strength: "strong" },
  { password: "🦊🐙🌲🦊", strength: "short" },
])("calls $password $strength", ({ password, strength }) => {
  expect(passwordStrength(password)).toBe(strength);
});
