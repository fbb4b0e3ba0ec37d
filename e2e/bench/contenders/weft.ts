import { z } from "zod";

import { joinHost, type Agent } from "../../harness/agents.ts";
import { eventually } from "../../harness/eventually.ts";
import {
  createJoinKey,
  createOwner,
  relayInto,
  startServer,
  type OwnedNetwork,
  type Server,
} from "../../harness/server.ts";
import { whyNoMesh } from "../../harness/tools.ts";
import { answersPing } from "../load/ping.ts";
import type { Site } from "../site.ts";
import type { Contender, Started } from "./contender.ts";

/** Real agents that joined a real server. One server serves every variant, each in a network of its own. */
export function weftContenders(): Contender[] {
  let fabric: Promise<{ server: Server; owned: OwnedNetwork }> | undefined;
  const provide = () => (fabric ??= startFabric());
  return [
    { name: "weft", start: (site) => startVariant(site, { name: "weft", env: {} }, provide) },
    {
      name: "weft without offload",
      start: (site) => startVariant(site, { name: "weft without offload", env: WITHOUT_OFFLOAD }, provide),
    },
  ];
}

type Variant = { readonly name: string; readonly env: Readonly<Record<string, string>> };
type Provide = () => Promise<{ readonly server: Server; readonly owned: OwnedNetwork }>;

async function startVariant(site: Site, variant: Variant, provide: Provide): Promise<Started> {
  const reason = whyNoMesh();
  if (reason !== undefined) return { ok: false, reason };
  const { server, owned } = await provide();
  const networkId = variant.name === "weft" ? owned.networkId : await addNetwork(owned, variant.name);
  const key = await createJoinKey(owned.client, networkId);
  const agents: Agent[] = [];
  for (const host of [site.a, site.b]) {
    const serverUrl = await relayInto(host, server, "127.0.0.1");
    const common = { host, name: host.label, serverUrl, key, client: owned.client, networkId };
    agents.push(await joinHost({ ...common, env: variant.env }));
  }
  const [a, b] = agents;
  if (a === undefined || b === undefined) throw new Error("two hosts joined, but not two agents are known");
  for (const target of [b.ipv4, b.ipv6]) {
    await eventually(`a first ping to ${target} through ${variant.name}`, { withinMs: 20_000 }, async () =>
      (await answersPing(site.a, target)) ? true : undefined,
    );
  }
  return {
    ok: true,
    tunnel: {
      interfaces: { a: a.interfaceName, b: b.interfaceName },
      v4: { a: a.ipv4, b: b.ipv4 },
      v6: { a: a.ipv6, b: b.ipv6 },
      daemonPids: agents.map((agent) => agent.program.pid),
      whyBroken: () => {
        const dead = agents.find((agent) => !agent.program.isRunning());
        return dead === undefined ? undefined : `agent ${dead.name} ended: ${dead.program.logs().slice(-500)}`;
      },
    },
  };
}

async function startFabric(): Promise<{ server: Server; owned: OwnedNetwork }> {
  const server = await startServer();
  return { server, owned: await createOwner(server, "bench-needs-no-secret") };
}

async function addNetwork(owned: OwnedNetwork, name: string): Promise<string> {
  const network = await owned.client.post("/networks", { name });
  const { id } = z.object({ id: z.string() }).parse(network);
  await owned.client.post(`/networks/${id}/rules`, { kind: "all-to-all" });
  return id;
}

const WITHOUT_OFFLOAD = { WEFT_TUN_OFFLOAD: "off", WEFT_UDP_GSO: "off", WEFT_UDP_GRO: "off" };
