import { createFleet } from "../fleet/fleet.ts";
import { createNetwork, type MeasuredNetwork, type MeasuredServer } from "../fleet/measured-server.ts";
import { percentile } from "../statistics.ts";
import { CONTENDER, type ControlScene, bothCpuMs, costOfChange, until } from "./control-plane-kit.ts";

/** What a change costs among few nodes, to compare with. */
export async function measureHundred(server: MeasuredServer, scene: ControlScene): Promise<void> {
  const { network, fleet, small } = await populate(server, { name: "hundred", ipv4Range: "10.64.0.0/24", count: 100 });
  await measureChanges(server, scene, { name: "change-100", fleet, network, small });
  fleet.cut();
}

/** Cases that need 5,000 peers: one change for few of them, the first map, a page of the list. */
export async function measureFiveThousand(server: MeasuredServer, scene: ControlScene): Promise<void> {
  const place = { name: "five-thousand", ipv4Range: "10.65.0.0/16", count: MANY };
  const { network, fleet, small } = await populate(server, place);
  scene.progress(`${String(MANY)} nodes have joined`);
  if (scene.wants("change-5000", CONTENDER))
    await measureChanges(server, scene, { name: "change-5000", fleet, network, small });
  fleet.cut();
  await network.allow();
  for (let round = 1; round <= scene.options.rounds; round += 1) {
    if (scene.wants("first-map", CONTENDER)) {
      const { value, extra } = await firstMaps(server, fleet);
      scene.rows.add({ name: "first-map", contender: CONTENDER, unit: "ms CPU" }, { round, value, extra });
    }
    if (scene.wants("list", CONTENDER)) {
      const value = await timeOfPage(server, network);
      scene.rows.add({ name: "list", contender: CONTENDER, unit: "ms p95" }, { round, value, extra: {} });
    }
  }
}

/** Joins so many nodes, of which ten belong to one group whose members may talk; nobody else may. */
export async function populate(
  server: MeasuredServer,
  place: { readonly name: string; readonly ipv4Range: string; readonly count: number },
) {
  const network = await createNetwork(server, { name: place.name, ipv4Range: place.ipv4Range });
  const group = await network.group("small");
  const forbid = await network.allow(group);
  const fleet = createFleet(server.url);
  const small = await fleet.join(SMALL, await network.joinKey([group]));
  const rest = await fleet.join(place.count - SMALL, await network.joinKey());
  await until("everybody's first map", () => [...small, ...rest].every(({ map }) => map.version() !== undefined));
  return { network, fleet, small, forbid };
}

type Changed = Omit<Awaited<ReturnType<typeof populate>>, "forbid"> & { readonly name: string };

export async function measureChanges(server: MeasuredServer, scene: ControlScene, changed: Changed): Promise<void> {
  for (let round = 1; round <= scene.options.rounds; round += 1) {
    const { value, extra } = await costOfChange(server, changed);
    scene.rows.add({ name: changed.name, contender: CONTENDER, unit: "ms CPU" }, { round, value, extra });
  }
}

/** Nodes of which nobody has a map come one after the other; what the server spends and sends for each. */
async function firstMaps(server: MeasuredServer, fleet: ReturnType<typeof createFleet>) {
  const beforeMs = bothCpuMs(server);
  const agents = await fleet.comeBack("without a map", MAPS);
  await until("whole maps", () => agents.every(({ map }) => map.version() !== undefined));
  const value = (bothCpuMs(server) - beforeMs) / agents.length;
  const counts = agents.map(({ map }) => map.peerIds().size);
  if (counts.some((count) => count !== MANY - 1)) throw new Error(`maps of ${counts.join()} peers`);
  const bytes = agents.reduce((sum, { map }) => sum + map.snapshotBytes(), 0) / agents.length;
  for (const agent of agents) agent.cut();
  return { value, extra: { bytesPerPeer: bytes / (MANY - 1), megabytes: server.memoryMb().server } };
}

async function timeOfPage({ owner }: MeasuredServer, network: MeasuredNetwork): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < PAGES; turn += 1) {
    const beganMs = performance.now();
    await owner.client.get(`/networks/${network.id}/peers?limit=100`);
    times.push(performance.now() - beganMs);
  }
  return percentile(times, 0.95);
}

export const FIVE_THOUSAND_CASES = ["change-5000", "first-map", "list"];
const MANY = 5_000;
const SMALL = 10;
const MAPS = 10;
const PAGES = 40;
