import { expect } from "vitest";

import type { Agent } from "../harness/agents.ts";
import { eventually } from "../harness/eventually.ts";
import { kernelErrors } from "../harness/kernel-counters.ts";
import { findProgram } from "../harness/tools.ts";
import { exchangeDatagrams, transferBytes, type Road } from "../harness/traffic.ts";
import { test } from "./mesh-test.ts";

const NO_CHECKSUM_ERRORS = { tcpChecksum: 0, udpChecksum: 0, udp6Checksum: 0 };

test(
  "E2E-08 ELI-13 a gigabyte reaches a host behind a member unchanged, with checksums left to the tunnel",
  { timeout: 600_000 },
  async ({ skip, mesh }) => {
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

    for (const agent of [mesh.ada, mesh.grace]) await elides(agent);

    for (let part = 0; part < 4; part += 1) {
      expect(await transferBytes(road, 250_000_000)).toMatchObject({ receivedBytes: 250_000_000, identical: true });
    }
    const datagrams = await exchangeDatagrams(road, 1_372);

    expect(datagrams).toMatchObject({ identical: 1_373, altered: 0, lost: 0 });
    for (const host of [mesh.ada.host, mesh.grace.host, behind]) {
      expect(await kernelErrors(host)).toMatchObject(NO_CHECKSUM_ERRORS);
    }
  },
);

/** The session with the other host leaves inner checksums to the tunnel. */
async function elides(agent: Agent): Promise<void> {
  await eventually(`elision at ${agent.name}`, { withinMs: 60_000 }, async () => {
    const { stdout } = await agent.weft("status", "--json");
    const { peers }: { readonly peers: readonly { readonly profile: string; readonly elision: string }[] } =
      JSON.parse(stdout);
    return peers[0]?.profile === "active" && peers[0].elision === "on" ? true : undefined;
  });
}
