import { afterAll, expect, test } from "vitest";

import { argv } from "../harness/argv.ts";
import { cleanUpNow } from "../harness/cleanup.ts";
import { eventually } from "../harness/eventually.ts";
import { kernelErrors } from "../harness/kernel-counters.ts";
import { createLab, type Host } from "../harness/namespaces.ts";
import { findProgram, whyNoNamespaces } from "../harness/tools.ts";
import { countPings, exchangeDatagrams, transferBytes, type Road } from "../harness/traffic.ts";
import { makeWireguardKeys } from "../harness/wireguard-keys.ts";
import { startWeftPeer, whyNoDataplane } from "./weft-peer.ts";

afterAll(cleanUpNow);

const NAT = `table ip nat_out {
  chain out { type nat hook postrouting priority srcnat; oifname "lan0" masquerade; }
}`;
const MARK = `table ip mark_in {
  chain in { type filter hook prerouting priority mangle; meta l4proto { tcp, udp } meta mark set 0x7; }
}`;

test.for<[string, string]>([
  ["E2E-07 COT-34 without translation", ""],
  ["E2E-08 with masquerade and a netfilter mark", `${NAT}\n${MARK}`],
])(
  "%s, TCP and UDP pass a subnet router both ways with right checksums",
  { timeout: 120_000 },
  async ([, rules], { skip }) => {
    const reason = whyNoNamespaces() ?? whyNoDataplane() ?? (findProgram("nft") ? undefined : "nft is not installed");
    if (reason !== undefined) skip(reason);
    const { hosts, road, wayBack } = await startRouter(rules);

    for (const way of rules === "" ? [road, wayBack] : [road]) {
      expect(await transferBytes(way, 30_000_000)).toMatchObject({ receivedBytes: 30_000_000, identical: true });
      expect(await exchangeDatagrams(way, 1_372)).toMatchObject({
        identical: 1_373,
        altered: 0,
        lost: 0,
        reordered: 0,
      });
    }

    for (const host of hosts) {
      expect(await kernelErrors(host)).toEqual({ tcpChecksum: 0, udpChecksum: 0, udp6Checksum: 0, reassembly: 0 });
    }
    await cleanUpNow();
  },
);

/** A traveller that reaches a host behind a router through the router's tunnel. */
async function startRouter(rules: string) {
  const lab = await createLab();
  const [traveller, router, behind] = [await lab.host("traveller"), await lab.host("router"), await lab.host("behind")];
  await lab.cable(
    { host: traveller, interfaceName: "eth0", addresses: ["192.0.2.1/24"] },
    { host: router, interfaceName: "eth0", addresses: ["192.0.2.2/24"] },
    "veth",
  );
  await lab.cable(
    { host: router, interfaceName: "lan0", addresses: ["198.51.100.1/24"] },
    { host: behind, interfaceName: "eth0", addresses: ["198.51.100.2/24"] },
    "veth",
  );
  await router.must("sysctl", argv`-q -w net.ipv4.ip_forward=1`);
  await behind.must("ip", argv`route add 10.9.0.0/24 via 198.51.100.1`);
  if (rules !== "") await router.must("nft", ["-f", "-"], { input: rules });
  const keys = { traveller: makeWireguardKeys(), router: makeWireguardKeys() };
  routers += 1;
  const stem = `s${String(process.pid)}${String.fromCharCode(96 + routers)}`;
  const common = { listenPort: 51_820, mtu: 1_420 };
  await startWeftPeer({
    ...common,
    host: router,
    interfaceName: `${stem}r`,
    keys: keys.router,
    addresses: ["10.9.0.2/24"],
    peer: { publicKey: keys.traveller.publicKey, allowedIps: ["10.9.0.1/32"] },
  });
  await startWeftPeer({
    ...common,
    host: traveller,
    interfaceName: `${stem}t`,
    keys: keys.traveller,
    addresses: ["10.9.0.1/24"],
    peer: {
      publicKey: keys.router.publicKey,
      allowedIps: ["10.9.0.2/32", "198.51.100.0/24"],
      endpoint: "192.0.2.2:51820",
    },
  });
  await routeInto(traveller, `${stem}t`);
  const road: Road = { from: traveller, to: behind, address: "198.51.100.2" };
  const wayBack: Road = { from: behind, to: traveller, address: "10.9.0.1" };
  await eventually("a first answer", { withinMs: 20_000 }, async () =>
    (await countPings(road, 1, 100)).received === 1 ? true : undefined,
  );
  return { hosts: [traveller, router, behind], road, wayBack };
}

/** Routes are the agent's task; here there is only the data plane. */
async function routeInto(host: Host, interfaceName: string): Promise<void> {
  await host.must("ip", argv`route replace 198.51.100.0/24 dev ${interfaceName}`);
}

let routers = 0;
