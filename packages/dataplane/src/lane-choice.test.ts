import { expect, test } from "vitest";
import { chooseLanes } from "./lane-choice.ts";

test.each([
  { wish: "auto", workers: 1, offered: 1 },
  { wish: "auto", workers: 3, offered: 1 },
  { wish: "auto", workers: 4, offered: 8 },
  { wish: "auto", workers: 8, offered: 8 },
  { wish: "auto", workers: 32, offered: 5 },
  { wish: "auto", workers: 64, offered: 3 },
  { wish: "off", workers: 8, offered: 1 },
  { wish: 1, workers: 8, offered: 1 },
  { wish: 4, workers: 8, offered: 4 },
  { wish: 4, workers: 2, offered: 1 },
  { wish: 8, workers: 64, offered: 8 },
] as const)("$workers workers and the wish $wish make $offered lanes", ({ wish, workers, offered }) => {
  expect(chooseLanes(wish, workers).offered).toBe(offered);
});

test("the reason says what stands against lanes", () => {
  expect(chooseLanes("auto", 2).reason).toBe("2 workers; lanes help from 4 on");
  expect(chooseLanes("off", 8).reason).toBe("WEFT_LANES switches them off");
});
