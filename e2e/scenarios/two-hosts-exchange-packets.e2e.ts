import { expect } from "vitest";
import { z } from "zod";

import { iperfTcp } from "../bench/load/iperf.ts";
import { argv } from "../harness/argv.ts";
import { kernelErrors } from "../harness/kernel-counters.ts";
import type { Mesh } from "../harness/mesh.ts";
import { startProgram } from "../harness/programs.ts";
import { builtProgram } from "../harness/repository.ts";
import { findProgram } from "../harness/tools.ts";
import { countPings, exchangeDatagrams, transferBytes, type Road } from "../harness/traffic.ts";
import { test } from "./mesh-test.ts";

const ALL_DATAGRAMS = { sent: 1_373, identical: 1_373, altered: 0, lost: 0, reordered: 0 };
const NO_ERRORS = { tcpChecksum: 0, udpChecksum: 0, udp6Checksum: 0, reassembly: 0 };

test("E2E-11 E2E-13 every byte arrives unchanged in both directions over IPv4 and IPv6", async ({ mesh }) => {
  for (const road of allRoads(mesh)) {
    const transfer = await transferBytes(road, 50_000_000);
    const datagrams = await exchangeDatagrams(road, 1_372);

    expect({ to: road.address, ...transfer }).toMatchObject({
      to: road.address,
      receivedBytes: 50_000_000,
      identical: true,
    });
    expect({ to: road.address, ...datagrams }).toEqual({ to: road.address, ...ALL_DATAGRAMS });
  }
  expect(await kernelErrors(mesh.ada.host)).toEqual(NO_ERRORS);
  expect(await kernelErrors(mesh.grace.host)).toEqual(NO_ERRORS);
});

test("iperf3 runs over IPv4 and IPv6 in both directions", async ({ skip, mesh }) => {
  if (findProgram("iperf3") === undefined) skip("iperf3 is not installed");
  const server = startProgram({
    name: "iperf3",
    program: "iperf3",
    args: argv`--server --forceflush`,
    host: mesh.grace.host,
  });
  await server.waitForLine("listening", 5_000, (line) => (line.includes("Server listening") ? true : undefined));
  for (const to of [mesh.grace.ipv4, mesh.grace.ipv6]) {
    for (const flags of [[], ["--reverse"]]) {
      const result = await iperfTcp({ from: mesh.ada.host, to, seconds: 2, flags });

      expect(result.bytes).toBeGreaterThan(10_000_000);
    }
  }
  expect(await kernelErrors(mesh.grace.host)).toEqual(NO_ERRORS);
});

test("E2E-05 short transfers that close right after sending lose nothing", async ({ mesh }) => {
  const program = builtProgram("bench/load/short-transfers.js");
  for (const address of [mesh.grace.ipv4, mesh.grace.ipv6]) {
    const server = startProgram({
      name: "short transfers",
      program: process.execPath,
      args: argv`${program} serve ${address} 5401`,
      host: mesh.grace.host,
    });
    await server.waitForLine("ready", 5_000, (line) => (line === "ready" ? true : undefined));
    const output = await mesh.ada.host.must(process.execPath, argv`${program} fetch ${address} 5401 4`);
    await server.stop();
    const { transfers, broken } = z.object({ transfers: z.number(), broken: z.number() }).parse(JSON.parse(output));

    expect({ address, broken }).toEqual({ address, broken: 0 });
    expect(transfers).toBeGreaterThan(200);
  }
});

test("pings of every size up to the inner MTU are answered", async ({ mesh }) => {
  const { ada, grace, road } = mesh;
  for (const [address, payload] of [
    [grace.ipv4, 1_392],
    [grace.ipv6, 1_372],
  ] as const) {
    const answer = await ada.host.run("ping", argv`-n -q -c 3 -i 0.2 -M do -s ${payload} ${address}`);

    expect(answer.stdout).toContain("3 received");
  }
  expect(await countPings(road, 50, 10)).toEqual({ sent: 50, received: 50 });
});

function allRoads({ ada, grace }: Mesh): Road[] {
  return [
    { from: ada.host, to: grace.host, address: grace.ipv4 },
    { from: grace.host, to: ada.host, address: ada.ipv4 },
    { from: ada.host, to: grace.host, address: grace.ipv6 },
    { from: grace.host, to: ada.host, address: ada.ipv6 },
  ];
}
