import { z } from "zod";

import { joinHost, type Agent } from "./agents.ts";
import { argv } from "./argv.ts";
import { HUB_ADDRESS } from "./mesh.ts";
import { createLab, type Host } from "./namespaces.ts";
import { createJoinKey, createOwner, relayInto, startServer, type OwnedNetwork } from "./server.ts";

/**
 * A traveller and two routers on one link, a printer on a network behind both routers that knows no way out of it, and
 * beyond the hub an internet of two addresses that knows no way into the overlay.
 */
export type BranchOffice = {
  readonly owned: OwnedNetwork;
  readonly ada: Agent;
  readonly grace: Agent;
  readonly hedy: Agent;
  readonly printer: Host;
};

export async function startBranchOffice(): Promise<BranchOffice> {
  const lab = await createLab();
  const hub = await lab.host("hub");
  const hosts = [await lab.host("ada"), await lab.host("grace"), await lab.host("hedy")];
  const printer = await lab.host("printer");
  await lab.bridge(
    { host: hub, interfaceName: "bridge0", addresses: [`${HUB_ADDRESS}/24`, "2001:db8::1/64"] },
    hosts.map((host, index) => ({
      host,
      interfaceName: "eth0",
      addresses: [`192.0.2.${11 + index}/24`, `2001:db8::${11 + index}/64`],
    })),
  );
  await lab.bridge(
    { host: printer, interfaceName: "lan0", addresses: [`${PRINTER.ipv4}/24`, `${PRINTER.ipv6}/64`] },
    hosts.slice(1).map((host, index) => ({
      host,
      interfaceName: "lan0",
      addresses: [`198.51.100.${1 + index}/24`, `2001:db8:b::${1 + index}/64`],
    })),
  );
  for (const address of [`${INTERNET.ipv4}/32`, `${INTERNET.ipv6}/128`]) {
    await hub.must("ip", argv`address add ${address} dev lo`);
  }
  for (const host of hosts) {
    await host.must("ip", argv`route add default via ${HUB_ADDRESS}`);
    await host.must("ip", argv`-6 route add default via 2001:db8::1`);
  }
  const server = await startServer();
  const owned = await createOwner(server, "correct horse battery staple");
  const { client, networkId } = owned;
  const serverUrl = await relayInto(hub, server, HUB_ADDRESS);
  const key = await createJoinKey(client, networkId);
  const agents: Agent[] = [];
  for (const host of hosts) agents.push(await joinHost({ host, name: host.label, serverUrl, key, client, networkId }));
  const [ada, grace, hedy] = agents;
  if (!ada || !grace || !hedy) throw new Error("three hosts joined, but not three agents are known");
  return { owned, ada, grace, hedy, printer };
}

/** Makes a route through a peer and lets it be used; returns its id. */
export async function openRoute(
  { client }: OwnedNetwork,
  router: Agent,
  route: { readonly prefix: string; readonly masquerade?: boolean },
): Promise<string> {
  const { id } = z.object({ id: z.string() }).parse(await client.post(`/peers/${router.peerId}/routes`, route));
  await client.post(`/routes/${id}/approve`);
  return id;
}

/** What an agent could have changed on its host, as text to compare. */
export async function hostSettings(host: Host): Promise<string> {
  const parts = [
    await host.must("ip", ["-4", "rule"]),
    await host.must("ip", ["-6", "rule"]),
    await host.must("nft", ["list", "ruleset"]),
    await host.must("sysctl", ["net.ipv4.ip_forward", "net.ipv4.conf.all.src_valid_mark"]),
    await host.must("sysctl", ["net.ipv6.conf.all.forwarding", "net.ipv6.conf.eth0.accept_ra"]),
  ];
  for (const family of ["-4", "-6"]) {
    const routes = await host.must("ip", [family, "route", "show", "table", "all"]);
    // What the kernel keeps of neighbours and paths comes and goes by itself.
    parts.push(
      ...routes
        .split("\n")
        .filter((line) => !line.includes(" cache") && !line.includes("weft0"))
        .toSorted(),
    );
  }
  return parts.join("\n");
}

export const PRINTER = { ipv4: "198.51.100.10", ipv6: "2001:db8:b::10" };
/** Documentation addresses: nobody's private network, so an exit node carries them. */
export const INTERNET = { ipv4: "203.0.113.1", ipv6: "2001:db8:f::1" };
