// What must hold between the counters of two engines once nothing moves any more.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

/** Reasons that only a defect can cause between two engines that have each other's keys and allow everything. */
const DEFECTS = [
  "dropNoSession",
  "dropReplay",
  "dropBadTag",
  "dropSourceNotAllowed",
  "dropFilter",
  "dropMalformed",
  "dropQueueFull",
  "udpReceiveTruncated",
];

/** Most datagrams the kernel moves, and drops, as one: the engine sends no more at once. */
const DATAGRAMS_PER_BUFFER_MAX = 64;

/** Equal looks in a row that mean nothing is on its way any more. */
const STILL_LOOKS = 6;
const LOOK_EVERY_MS = 50;

/** Resolves with the reports of both hosts once the packets they count stand still; rejects when they never do. */
export async function settledReports(hosts, boundMs = 10_000) {
  const until = Date.now() + boundMs;
  let [last, equal] = ["", 0];
  for (;;) {
    const reports = await Promise.all(hosts.map((host) => host.report()));
    const counts = JSON.stringify(reports.map(({ peer }) => [peer.txPackets, peer.rxPackets]));
    equal = counts === last ? equal + 1 : 0;
    if (equal >= STILL_LOOKS) return reports;
    if (Date.now() > until) throw new Error(`packets still move after ${boundMs} ms: ${last}, then ${counts}`);
    last = counts;
    await pause(LOOK_EVERY_MS);
  }
}

/** Asserts that one engine saw nothing that only a defect can cause, and that what it could not send is the kernel's doing. */
export function assertNoDefect({ totals, peer }) {
  for (const name of DEFECTS) {
    assert.equal(totals[name], 0, name);
  }
  assert.equal(totals.dropIo > 0, totals.udpSendErrors + totals.tunWriteErrors > 0, "every refusal has its error");
  assert.equal(peer.queuedPackets, 0, "nothing waits");
}

/**
 * Asserts that every packet one side sent was received, but those the kernel says it dropped between the two; it counts
 * buffers, of up to 64 datagrams each.
 */
export function assertConserved(sent, received, kernelDrops) {
  const lost = sent.txPackets - received.rxPackets;
  const dropped = Object.values(kernelDrops).reduce((sum, count) => sum + count, 0);
  const said = `${sent.txPackets} sent, ${received.rxPackets} received; the kernel dropped ${JSON.stringify(kernelDrops)}`;
  assert.ok(lost >= 0, `more arrived than was sent: ${said}`);
  assert.ok(lost <= dropped * DATAGRAMS_PER_BUFFER_MAX, `packets vanished: ${said}`);
  if (lost === 0) {
    assert.equal(sent.txBytes, received.rxBytes, "bytes");
  } else {
    assert.ok(sent.txBytes > received.rxBytes, "bytes");
  }
}
