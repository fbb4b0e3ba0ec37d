import { pathToFileURL } from "node:url";
import { z } from "zod";

import { joinHost, type Agent } from "../../harness/agents.ts";
import { eventually } from "../../harness/eventually.ts";
import { repositoryPath } from "../../harness/repository.ts";
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

/** Real agents that joined a real server, the default first. One server serves every variant, each in a network of its own. */
export function weftContenders(): Contender[] {
  return contendersFor(VARIANTS);
}

/** Agents with a fixed number of workers; where they have lanes of their own accord, without them, too. */
export function shardContenders(): Contender[] {
  return contendersFor(
    SHARD_SETTINGS.map((env) => {
      const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      return { name: `weft with ${settings.join(" ")}`, env };
    }),
  );
}

function contendersFor(variants: readonly Variant[]): Contender[] {
  let fabric: Promise<Fabric> | undefined;
  const provide = () => (fabric ??= startFabric());
  return variants.map((variant) => ({ name: variant.name, start: (site) => startVariant(site, variant, provide) }));
}

type Variant = {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** What its sessions must carry to deserve the name. */
  readonly carries?: { readonly cipher: string; readonly elision?: string };
};
type Fabric = { readonly server: Server; readonly owned: OwnedNetwork };

async function startVariant(site: Site, variant: Variant, provide: () => Promise<Fabric>): Promise<Started> {
  const reason = whyNoMesh() ?? (await whyNotSettable(variant.env));
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
  const carried = await sessionProfile(a);
  const { carries } = variant;
  if (carries && (carries.cipher !== carried.cipher || (carries.elision ?? carried.elision) !== carried.elision))
    return { ok: false, reason: `sessions here carry ${carried.cipher}, elision ${carried.elision}` };
  return {
    ok: true,
    tunnel: {
      profile: `${carried.cipher}, elision ${carried.elision}, lanes ${carried.lanes}`,
      interfaces: { a: a.interfaceName, b: b.interfaceName },
      v4: { a: a.ipv4, b: b.ipv4 },
      v6: { a: a.ipv6, b: b.ipv6 },
      daemonPids: agents.map((agent) => agent.program.pid),
      whyBroken: () => {
        const dead = agents.find((agent) => !agent.program.isRunning());
        return dead === undefined ? undefined : `agent ${dead.name} ended: ${dead.program.logs().slice(-500)}`;
      },
      stop: async () => {
        await Promise.all(agents.map((agent) => agent.program.stop()));
      },
    },
  };
}

/** What the session to the other host carries, once that has settled. */
async function sessionProfile(agent: Agent): Promise<z.infer<typeof PeerProfile>> {
  return eventually(`a settled session of ${agent.name}`, { withinMs: 20_000 }, async () => {
    const { stdout } = await agent.weft("status", "--json");
    const [peer] = StatusOutput.parse(JSON.parse(stdout)).peers;
    return peer && SETTLED.has(peer.profile) ? peer : undefined;
  });
}

async function startFabric(): Promise<Fabric> {
  const server = await startServer();
  return { server, owned: await createOwner(server, "bench-needs-no-secret") };
}

async function addNetwork(owned: OwnedNetwork, name: string): Promise<string> {
  const network = await owned.client.post("/networks", { name });
  const { id } = z.object({ id: z.string() }).parse(network);
  await owned.client.post(`/networks/${id}/rules`, { kind: "all-to-all" });
  return id;
}

/** Why the built agent does not know one of the settings, or `undefined`: it refuses nonsense only in those that it reads. */
async function whyNotSettable(env: Variant["env"]): Promise<string | undefined> {
  const module: unknown = await import(pathToFileURL(repositoryPath(TUNING_MODULE)).href);
  const readers = Object.values(TuningModule.parse(module));
  const unknown = Object.keys(env).filter((name) => readers.every((read) => read({ [name]: "nonsense" }).ok));
  return unknown.length === 0 ? undefined : `the built agent has no setting ${unknown.join(", ")}`;
}

const PeerProfile = z.object({ profile: z.string(), cipher: z.string(), elision: z.string(), lanes: z.number() });
const StatusOutput = z.object({ peers: z.array(PeerProfile) });
const SETTLED = new Set(["plain", "active"]);
const TUNING_MODULE = "apps/agent/dist/settings/engine-tuning.js";
const Reader = z.custom<(env: Variant["env"]) => { readonly ok: boolean }>((value) => typeof value === "function");
const TuningModule = z.object({ engineTuning: Reader, cipherWish: Reader, laneWish: Reader });
const VARIANTS: readonly Variant[] = [
  { name: "weft", env: {} },
  {
    name: "weft ChaCha20",
    env: { WEFT_CIPHER: "chacha20", WEFT_CHECKSUM_ELISION: "off" },
    carries: { cipher: "chacha20-poly1305", elision: "off" },
  },
  { name: "weft AES-256-GCM", env: { WEFT_CIPHER: "aes-256-gcm" }, carries: { cipher: "aes-256-gcm" } },
  { name: "weft without profile counters", env: { WEFT_STAGE_TIMING: "off" } },
  { name: "weft without offload", env: { WEFT_TUN_OFFLOAD: "off", WEFT_UDP_GSO: "off", WEFT_UDP_GRO: "off" } },
];
const SHARD_SETTINGS: readonly Readonly<Record<string, string>>[] = [
  { WEFT_SHARDS: "1" },
  { WEFT_SHARDS: "2" },
  { WEFT_SHARDS: "4" },
  { WEFT_SHARDS: "4", WEFT_LANES: "off" },
  { WEFT_SHARDS: "8" },
  { WEFT_SHARDS: "8", WEFT_LANES: "off" },
];
