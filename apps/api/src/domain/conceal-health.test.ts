import { describe, expect, test } from "vitest";
import { judgeStage } from "./conceal-health.ts";
import type { StageLink } from "./conceal-health.ts";
import type { ConcealPlan } from "./conceal-plan.ts";

const START_MS = 1_000_000_000;
const PLAN: ConcealPlan = {
  base: null,
  next: null,
  groupIds: [],
  state: "watched",
  startedAtMs: START_MS,
  watchSeconds: 180,
  reason: null,
};

/** A link by seconds relative to the start. */
function link(handshakeAt: number, reportedAt: number): StageLink {
  return { handshakeAtMs: START_MS + handshakeAt * 1_000, reportedAtMs: START_MS + reportedAt * 1_000 };
}

const after = (seconds: number): number => START_MS + seconds * 1_000;

describe("judging a new conceal profile", () => {
  test("is patient while reports are of the first minute", () => {
    expect(judgeStage(PLAN, [link(-20, 59)], after(70))).toEqual({ kind: "wait" });
  });

  test("goes back as soon as half of the connected pairs have made no handshake", () => {
    const links = [link(-20, 61), link(5, 61), link(-100, 62), link(9, 61)];

    expect(judgeStage(PLAN, links, after(62))).toEqual({
      kind: "roll-back",
      reason: "2 of 4 connected pairs made no handshake under the new profile",
    });
    expect(judgeStage(PLAN, links.slice(1), after(62))).toEqual({ kind: "wait" });
  });

  test("blames nobody who was not connected before", () => {
    expect(judgeStage(PLAN, [link(-200, 90), link(-9_000, 90)], after(100))).toEqual({ kind: "wait" });
  });

  test("keeps what has gone well for as long as it was to be watched, also where nobody talks", () => {
    expect(judgeStage(PLAN, [link(3, 170)], after(179))).toEqual({ kind: "wait" });
    expect(judgeStage(PLAN, [link(3, 170)], after(180))).toEqual({ kind: "keep" });
    expect(judgeStage(PLAN, [], after(180))).toEqual({ kind: "keep" });
  });
});
