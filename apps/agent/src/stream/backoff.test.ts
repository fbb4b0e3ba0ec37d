import { beforeEach, describe, expect, test } from "vitest";

import { planReconnect } from "../daemon/reconnect-plan.ts";
import { createBackoff } from "./backoff.ts";
import { parseRetryAfter } from "./connection.ts";

describe("back-off", () => {
  const at = { nowMs: 0 };
  const clock = { nowMs: () => at.nowMs };
  beforeEach(() => {
    at.nowMs = 0;
  });

  test("AP-43 the ceiling doubles from 1 s to 60 s and stays there", () => {
    const backoff = createBackoff(clock, () => 0.999_999);
    backoff.nextDelayMs();
    at.nowMs = 120_000;

    const delays = Array.from({ length: 8 }, () => Math.ceil(backoff.nextDelayMs() / 1000));

    expect(delays).toEqual([2, 4, 8, 16, 32, 60, 60, 60]);
  });

  test("in the first two minutes of an outage no delay is longer than 8 s", () => {
    const backoff = createBackoff(clock, () => 0.999_999);
    at.nowMs = 500_000;

    const delays = Array.from({ length: 6 }, () => Math.ceil(backoff.nextDelayMs() / 1000));

    expect(delays).toEqual([1, 2, 4, 8, 8, 8]);
    at.nowMs += 119_999;
    expect(Math.ceil(backoff.nextDelayMs() / 1000)).toBe(8);
    at.nowMs += 1;
    expect(Math.ceil(backoff.nextDelayMs() / 1000)).toBe(60);
  });

  test("AP-43 jitter is full: the shortest delay is none", () => {
    const backoff = createBackoff(clock, () => 0);

    expect([backoff.nextDelayMs(), backoff.nextDelayMs()]).toEqual([0, 0]);
  });

  test("success starts again with short delays", () => {
    const backoff = createBackoff(clock, () => 0.5);
    for (let attempt = 0; attempt < 8; attempt += 1) backoff.nextDelayMs();

    backoff.reset();

    expect(backoff.nextDelayMs()).toBe(500);
  });
});

describe("what follows the end of a stream", () => {
  const half = { backoff: { nextDelayMs: () => 700, reset: () => {} }, chance: () => 0.5 };
  const closed = { code: "closed", message: "gone" } as const;
  const bye = (
    reason: "restart" | "removed" | "disabled" | "overload" | "unauthorised" | "replaced",
    retryAfterMs = 0,
  ) => ({ kind: "bye", reason, detail: "none", message: "", retryAfterMs }) as const;

  test("a broken connection waits for the back-off", () => {
    expect(planReconnect({ end: closed, bye: null }, half)).toMatchObject({ kind: "retry", delayMs: 700 });
  });

  test("AP-43 after bye restart the agents spread over the announced window", () => {
    expect(planReconnect({ end: closed, bye: bye("restart", 8_000) }, half)).toMatchObject({
      kind: "retry",
      delayMs: 4_000,
    });
  });

  test("AP-43 Retry-After is obeyed, from HTTP and from a bye", () => {
    const refused = { code: "http", status: 503, retryAfterMs: 20_000, message: "busy" } as const;

    expect(planReconnect({ end: refused, bye: null }, half)).toMatchObject({ delayMs: 20_700 });
    expect(planReconnect({ end: closed, bye: bye("overload", 9_000) }, half)).toMatchObject({ delayMs: 9_700 });
    expect(parseRetryAfter("120", 0)).toBe(120_000);
    expect(parseRetryAfter("Thu, 01 Jan 1970 00:01:00 GMT", 20_000)).toBe(40_000);
    expect(parseRetryAfter("soon", 0)).toBe(0);
    expect(parseRetryAfter(undefined, 0)).toBe(0);
  });

  test("AP-50 no answer keeps a node away for long: an hour at most, five minutes without proof", () => {
    const refused = { code: "http", status: 503, retryAfterMs: 1e12, message: "busy" } as const;

    expect(planReconnect({ end: refused, bye: null }, half)).toMatchObject({ kind: "retry", delayMs: 300_700 });
    expect(planReconnect({ end: closed, bye: bye("overload", 0xffff_ffff) }, half)).toMatchObject({
      delayMs: 3_600_700,
    });
    expect(planReconnect({ end: closed, bye: bye("restart", 0xffff_ffff) }, half)).toMatchObject({
      delayMs: 1_800_000,
    });
    expect(planReconnect({ end: closed, bye: bye("disabled", 0xffff_ffff) }, half)).toMatchObject({
      delayMs: 3_600_000,
    });
  });

  test("SEC-3 a message that was changed on the way is a broken connection", () => {
    const tampered = { code: "tampered", message: "message 3" } as const;

    expect(planReconnect({ end: tampered, bye: null }, half)).toMatchObject({
      kind: "retry",
      delayMs: 700,
      standing: "member",
    });
  });

  test("AP-46 removal is final, with the reason", () => {
    expect(planReconnect({ end: closed, bye: bye("removed") }, half)).toEqual({
      kind: "final",
      reason: "removed",
      message: "this node was removed from its network",
    });
  });

  test("CP-23 AP-50 everything else is tried again, disabled and unknown nodes slowly", () => {
    for (const reason of ["disabled", "unauthorised", "replaced"] as const) {
      expect(planReconnect({ end: closed, bye: bye(reason) }, half)).toMatchObject({ kind: "retry", delayMs: 45_000 });
    }
    expect(planReconnect({ end: { code: "version", message: "old" }, bye: null }, half)).toMatchObject({
      kind: "retry",
      delayMs: 45_000,
    });
  });
});
