import { expect, test } from "vitest";

import { totalCalls } from "./syscalls.ts";

test("the total of strace's table is read", () => {
  const table = "strace: Process 7 attached\n      12 read\n       9 sendmsg\n--------- ------\n       21 total\n";

  expect(totalCalls(table)).toBe(21);
});

test("no table is no total", () => {
  expect(totalCalls("strace: attach: Operation not permitted")).toBeUndefined();
});
