import { joinHost, type Agent } from "./agents.ts";
import { cleanUpNow } from "./cleanup.ts";
import { eventually } from "./eventually.ts";
import { createLab, type Host, type Lab } from "./namespaces.ts";
import { createJoinKey, createOwner, relayInto, startServer, type OwnedNetwork, type Server } from "./server.ts";
import { countPings, type Road } from "./traffic.ts";

/** Hosts on one link with a hub in the middle, behind which the server is reached. */
export type LabNetwork = { readonly lab: Lab; readonly hub: Host; readonly hosts: readonly Host[] };

/** A server and two joined hosts, `ada` and `grace`. */
export type Mesh = {
  readonly lab: Lab;
  /** Between the hosts; the server is reached through it. */
  readonly hub: Host;
  readonly server: Server;
  readonly owned: OwnedNetwork;
  readonly ada: Agent;
  readonly grace: Agent;
  /** From ada to grace over the overlay's IPv4. */
  readonly road: Road;
  /** From grace to ada over the overlay's IPv4. */
  readonly wayBack: Road;
};

/** Two hosts without agents, for tests that join them themselves. */
export async function startLabNetwork(): Promise<LabNetwork> {
  const lab = await createLab();
  const hub = await lab.host("hub");
  const hosts = [await lab.host("ada"), await lab.host("grace")];
  await lab.bridge(
    { host: hub, interfaceName: "bridge0", addresses: [`${HUB_ADDRESS}/24`, "2001:db8::1/64"] },
    hosts.map((host, index) => ({
      host,
      interfaceName: "eth0",
      addresses: [`192.0.2.${String(11 + index)}/24`, `2001:db8::${String(11 + index)}/64`],
    })),
  );
  return { lab, hub, hosts };
}

/** Environment of each agent, for tests of its settings. */
export type MeshOptions = {
  readonly ada?: Readonly<Record<string, string>>;
  readonly grace?: Readonly<Record<string, string>>;
  /** What the hosts are joined by; default: {@link startLabNetwork}. */
  readonly network?: () => Promise<LabNetwork>;
};

/** Starts everything and waits until the two hosts answer each other. {@link stopMesh} removes it. */
export async function startMesh(options: MeshOptions = {}): Promise<Mesh> {
  const { lab, hub, hosts } = await (options.network ?? startLabNetwork)();
  const server = await startServer();
  const owned = await createOwner(server, "correct horse battery staple");
  const { client, networkId } = owned;
  const serverUrl = await relayInto(hub, server, HUB_ADDRESS);
  const key = await createJoinKey(client, networkId);
  const agents: Agent[] = [];
  for (const host of hosts) {
    const env = (host.label === "ada" ? options.ada : options.grace) ?? {};
    agents.push(await joinHost({ host, name: host.label, serverUrl, key, client, networkId, env }));
  }
  const [ada, grace] = agents;
  if (!ada || !grace) throw new Error("two hosts joined, but not two agents are known");
  const road: Road = { from: ada.host, to: grace.host, address: grace.ipv4 };
  await eventually("a first answer through the tunnel", { withinMs: 20_000 }, async () =>
    (await countPings(road, 1, 100)).received === 1 ? true : undefined,
  );
  return { lab, hub, server, owned, ada, grace, road, wayBack: { from: grace.host, to: ada.host, address: ada.ipv4 } };
}

/** Stops every program of a mesh or lab and deletes its namespaces. */
export const stopMesh = cleanUpNow;

export const HUB_ADDRESS = "192.0.2.1";
