import { argv } from "./argv.ts";
import type { LabNetwork } from "./mesh.ts";
import { createLab, type Host } from "./namespaces.ts";

/** Two hosts with two routers between them, whose link in the middle is the narrow place. */
export type RoutedNetwork = LabNetwork & {
  /** What the middle carries from now on. */
  readonly carry: (mtu: number) => Promise<void>;
  /** Whether routers say so when something does not fit. */
  readonly setRouters: (manner: "tell" | "swallow") => Promise<void>;
  /** Lets datagrams of the tunnel pass over one address family only. */
  readonly allowOnly: (family: 4 | 6) => Promise<void>;
};

/** `linkMtu` is that of everything but the middle. */
export async function startRoutedNetwork(linkMtu: number): Promise<RoutedNetwork> {
  const lab = await createLab();
  const [hub, far] = [await lab.host("hub"), await lab.host("far")];
  const [ada, grace] = [await lab.host("ada"), await lab.host("grace")];
  await lab.cable(
    { host: hub, interfaceName: "edge", addresses: ["192.0.2.1/25", "2001:db8:a::1/64"] },
    { host: ada, interfaceName: "eth0", addresses: ["192.0.2.11/25", "2001:db8:a::11/64"] },
    "veth",
  );
  await lab.cable(
    { host: hub, interfaceName: "middle", addresses: ["198.51.100.1/24", "2001:db8:b::1/64"] },
    { host: far, interfaceName: "middle", addresses: ["198.51.100.2/24", "2001:db8:b::2/64"] },
    "veth",
  );
  await lab.cable(
    { host: far, interfaceName: "edge", addresses: ["192.0.2.129/25", "2001:db8:c::1/64"] },
    { host: grace, interfaceName: "eth0", addresses: ["192.0.2.139/25", "2001:db8:c::11/64"] },
    "veth",
  );
  const [atHub, atFar] = [
    { router: hub, host: ada, gateway: ["192.0.2.1", "2001:db8:a::1"], next: ["198.51.100.2", "2001:db8:b::2"] },
    { router: far, host: grace, gateway: ["192.0.2.129", "2001:db8:c::1"], next: ["198.51.100.1", "2001:db8:b::1"] },
  ];
  for (const side of [atHub, atFar]) await setUpSide(side, linkMtu);
  const routers = [hub, far];
  return {
    lab,
    hub,
    hosts: [ada, grace],
    async carry(mtu) {
      for (const router of routers) await router.must("ip", argv`link set middle mtu ${mtu}`);
    },
    async setRouters(manner) {
      for (const router of routers) await setManner(router, manner);
    },
    async allowOnly(family) {
      const other = family === 4 ? "ip6" : "ip";
      for (const router of routers) {
        await router.must("nft", argv`add table ${other} families`);
        await router.must(
          "nft",
          argv`add chain ${other} families forward`.concat("{ type filter hook forward priority 0; }"),
        );
        await router.must("nft", argv`add rule ${other} families forward udp dport 51820 drop`);
      }
    },
  };
}

type Side = {
  readonly router: Host;
  readonly host: Host;
  readonly gateway: readonly string[];
  readonly next: readonly string[];
};

async function setUpSide({ router, host, gateway, next }: Side, linkMtu: number): Promise<void> {
  await router.must("sysctl", ["-q", "-w", "net.ipv4.ip_forward=1"]);
  await router.must("sysctl", ["-q", "-w", "net.ipv6.conf.all.forwarding=1"]);
  for (const [owner, name] of [
    [router, "edge"],
    [router, "middle"],
    [host, "eth0"],
  ] as const) {
    await owner.must("ip", argv`link set ${name} mtu ${linkMtu}`);
  }
  for (const address of gateway) await host.must("ip", argv`route add default via ${address}`);
  for (const address of next) await router.must("ip", argv`route add default via ${address}`);
}

async function setManner(router: Host, manner: "tell" | "swallow"): Promise<void> {
  await router.run("nft", ["delete", "table", "inet", "silence"]);
  if (manner === "tell") return;
  await router.must("nft", argv`add table inet silence`);
  await router.must("nft", argv`add chain inet silence output`.concat("{ type filter hook output priority 0; }"));
  await router.must("nft", argv`add rule inet silence output icmp type destination-unreachable drop`);
  await router.must("nft", argv`add rule inet silence output icmpv6 type packet-too-big drop`);
}
