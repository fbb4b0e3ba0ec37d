import { expect, test } from "vitest";

import { udpResult } from "./iperf.ts";

test("loss and packet rate come from the bytes of both ends", () => {
  const end = { sum_sent: { seconds: 2, bytes: 2_000_000 }, sum_received: { seconds: 2, bytes: 1_500_000 } };

  expect(udpResult(end, 1_000)).toEqual({
    receivedBitsPerSecond: 6_000_000,
    receivedPacketsPerSecond: 750,
    lossPercent: 25,
    receivedBytes: 1_500_000,
  });
});

test("more received than sent, as at the edge of the dropped second, is no negative loss", () => {
  const end = { sum_sent: { seconds: 2, bytes: 1_000 }, sum_received: { seconds: 2, bytes: 1_100 } };

  expect(udpResult(end, 100).lossPercent).toBe(0);
});
