import { setTimeout as pause } from "node:timers/promises";
import { expect, test as plain } from "vitest";

import { argv } from "../harness/argv.ts";
import { congestionMarks, kernelErrors, retransmissions } from "../harness/kernel-counters.ts";
import { startMesh, stopMesh } from "../harness/mesh.ts";
import { cpuSeconds } from "../harness/process-usage.ts";
import { findProgram, whyNoMesh } from "../harness/tools.ts";
import { showManners, transferBytes } from "../harness/traffic.ts";
import { test } from "./mesh-test.ts";

test("E2E-06 P-04 200 KB over IPv6 arrive at once, without waiting for a retransmission", async ({ mesh }) => {
  const road = { ...mesh.road, address: mesh.grace.ipv6 };
  const before = await retransmissions(mesh.ada.host);

  const seconds: number[] = [];
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const transfer = await transferBytes(road, 200_000);
    expect(transfer).toMatchObject({ receivedBytes: 200_000, identical: true });
    seconds.push(transfer.seconds);
  }

  expect(Math.min(...seconds)).toBeLessThan(0.1);
  // A splitter that breaks segments costs several per transfer; a busy machine may cause one by itself.
  expect((await retransmissions(mesh.ada.host)) - before).toBeLessThan(seconds.length);
  expect(await kernelErrors(mesh.grace.host)).toMatchObject({ tcpChecksum: 0 });
});

test("E2E-10 P-50 small writes, a half-close and a reset look as they do without a tunnel", async ({ mesh }) => {
  const without = await showManners({ from: mesh.ada.host, to: mesh.grace.host, address: OUTER_ADDRESS_OF_GRACE });

  for (const address of [mesh.grace.ipv4, mesh.grace.ipv6]) {
    expect({ address, ...(await showManners({ ...mesh.road, address })) }).toEqual({ address, ...without });
  }

  expect(without).toMatchObject({ small: { same: true }, after: { same: true, previousEnd: "ECONNRESET" } });
});

test("P-89 agents with nothing to do use less than one percent of a processor", async ({ mesh }) => {
  const pids = [mesh.ada.program.pid, mesh.grace.program.pid];
  await pause(3_000);
  const before = pids.map(cpuSeconds);

  // Long enough that the one collection of garbage after start-up, of some 80 ms, does not decide.
  const seconds = 30;
  await pause(seconds * 1_000);

  for (const [index, pid] of pids.entries()) {
    expect(cpuSeconds(pid) - (before[index] ?? 0)).toBeLessThan(0.01 * seconds);
  }
});

plain("E2E-09 SEG-14 as many packets arrive marked as were marked on the way", async ({ skip }) => {
  const reason = whyNoMesh() ?? (findProgram("nft") === undefined ? "nft is not installed" : undefined);
  if (reason !== undefined) skip(reason);
  // One packet per datagram and per write, so that both kernels count the same things.
  const single = { WEFT_UDP_GSO: "off", WEFT_UDP_GRO: "off", WEFT_TUN_OFFLOAD: "off" };
  try {
    const mesh = await startMesh({ ada: single, grace: single });
    for (const { host } of [mesh.ada, mesh.grace]) await host.must("sysctl", argv`-q -w net.ipv4.tcp_ecn=1`);
    await mesh.grace.host.must("nft", ["-f", "-"], { input: MARK_EVERY_TENTH });
    const before = await congestionMarks(mesh.grace.host);

    const transfer = await transferBytes(mesh.road, 5_000_000);

    expect(transfer).toMatchObject({ receivedBytes: 5_000_000, identical: true });
    const counter = await mesh.grace.host.must("nft", argv`list counter inet congestion marked`);
    const marked = Number(/packets (\d+)/.exec(counter)?.[1]);
    expect(marked).toBeGreaterThan(100);
    expect((await congestionMarks(mesh.grace.host)) - before).toBe(marked);
  } finally {
    await stopMesh();
  }
});

const OUTER_ADDRESS_OF_GRACE = "192.0.2.12";
/** What a congested router does to the tunnel's datagrams. */
const MARK_EVERY_TENTH = `table inet congestion {
  counter marked { }
  chain in {
    type filter hook prerouting priority raw;
    iifname "eth0" meta l4proto udp ip ecn ect0 numgen inc mod 10 0 counter name marked ip ecn set ce
    iifname "eth0" meta l4proto udp ip6 ecn ect0 numgen inc mod 10 0 counter name marked ip6 ecn set ce
  }
}`;
