import { expect, test } from "vitest";

import { pathProblem } from "./measure.ts";

test("a run whose bytes the tunnel delivered and the link carried is sound", () => {
  expect(pathProblem(1_000_000, { deliveredBytes: 1_020_000, linkBytes: 1_080_000 })).toBeUndefined();
});

test("bytes that the tunnel never delivered took another path", () => {
  expect(pathProblem(1_000_000, { deliveredBytes: 5_000, linkBytes: 1_080_000 })).toContain("another path");
});

test("bytes that the link never carried took another path", () => {
  expect(pathProblem(1_000_000, { deliveredBytes: 1_020_000, linkBytes: 2_000 })).toContain("on the link");
});
