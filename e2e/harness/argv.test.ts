import { expect, test } from "vitest";

import { argv } from "./argv.ts";

test("white space in literals separates arguments", () => {
  expect(argv`link set  lo
    up`).toEqual(["link", "set", "lo", "up"]);
});

test("an inserted value with spaces stays one argument", () => {
  expect(argv`add ${"a b; c"} now`).toEqual(["add", "a b; c", "now"]);
});

test("a value glued to text joins its argument", () => {
  expect(argv`address add ${"192.0.2.1"}/${24} dev ${"eth0"}`).toEqual([
    "address",
    "add",
    "192.0.2.1/24",
    "dev",
    "eth0",
  ]);
});
