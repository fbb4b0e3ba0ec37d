import { expect } from "vitest";

import { kernelErrors } from "../harness/kernel-counters.ts";
import { findProgram } from "../harness/tools.ts";
import { exchangeDatagrams, transferBytes, type Road } from "../harness/traffic.ts";
import { test } from "./mesh-test.ts";

const NO_CHECKSUM_ERRORS = { tcpChecksum: 0, udpChecksum: 0, udp6Checksum: 0 };

test("E2E-08 a host behind a member is reached through it with every byte unchanged", async ({ skip, mesh }) => {
  if (findProgram("nft") === undefined) skip("nft is not installed");
  const behind = await mesh.lab.host("behind");
  await mesh.lab.cable(
    { host: mesh.grace.host, interfaceName: "lan0", addresses: ["198.51.100.1/24"] },
    { host: behind, interfaceName: "eth0", addresses: ["198.51.100.2/24"] },
    "veth",
  );
  await mesh.grace.host.must("sysctl", ["-q", "-w", "net.ipv4.ip_forward=1"]);
  await mesh.grace.host.must("nft", ["-f", "-"], {
    input: `table ip forwarding {
      chain before { type nat hook prerouting priority dstnat; ip daddr ${mesh.grace.ipv4} dnat to 198.51.100.2; }
      chain after { type nat hook postrouting priority srcnat; oifname "lan0" masquerade; }
    }`,
  });
  const road: Road = {
    from: mesh.ada.host,
    to: behind,
    address: mesh.grace.ipv4,
    listenAddress: "198.51.100.2",
  };

  const transfer = await transferBytes(road, 50_000_000);
  const datagrams = await exchangeDatagrams(road, 1_372);

  expect(transfer).toMatchObject({ receivedBytes: 50_000_000, identical: true });
  expect(datagrams).toMatchObject({ identical: 1_373, altered: 0, lost: 0 });
  for (const host of [mesh.ada.host, mesh.grace.host, behind]) {
    expect(await kernelErrors(host)).toMatchObject(NO_CHECKSUM_ERRORS);
  }
});
