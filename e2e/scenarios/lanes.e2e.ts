import { expect, test } from "vitest";
import { z } from "zod";

import type { Agent } from "../harness/agents.ts";
import { argv } from "../harness/argv.ts";
import { eventually } from "../harness/eventually.ts";
import { startMesh, stopMesh } from "../harness/mesh.ts";
import type { Host } from "../harness/namespaces.ts";
import { findProgram, whyNoMesh } from "../harness/tools.ts";
import { pacedFlows } from "../harness/traffic.ts";

const FOUR_WORKERS = { WEFT_SHARDS: "4" };

test("data of one peer comes by several ports and in order, by one where a firewall drops the others, and without lanes", async ({
  skip,
}) => {
  const reason = whyNoMesh() ?? (findProgram("nft") ? undefined : "nft is not installed");
  if (reason !== undefined) skip(reason);
  try {
    const mesh = await startMesh({ ada: FOUR_WORKERS, grace: FOUR_WORKERS });
    const { ada, grace, road } = mesh;
    await watchPorts(grace.host);
    for (const agent of [ada, grace]) {
      expect(await settled(agent, (lanes) => lanes.lanesInUse === 8)).toEqual({
        lanes: 8,
        lanesInUse: 8,
        lanesNote: null,
      });
    }

    const calm = await pacedFlows(road, FLOWS, 1.5);
    expect(calm).toMatchObject({ returned: calm.sent, reordered: 0, silentFlows: 0 });
    const carried = await portsSeen(grace.host);
    expect(carried.filter(({ packets }) => packets > 100).length).toBeGreaterThanOrEqual(6);
    expect(await endpointOf(grace)).toMatch(/:51820$/);

    const blocked = pacedFlows(road, FLOWS, 3);
    await eventually("the flows under way", { withinMs: 5_000 }, async () => {
      const seen = await portsSeen(grace.host);
      return total(seen) > total(carried) + FLOWS ? true : undefined;
    });
    await dropOtherPorts(grace.host);
    const survived = await blocked;
    expect(survived.silentFlows).toBe(0);
    expect(survived.longestGapMs).toBeGreaterThan(200);
    expect(survived.longestGapMs).toBeLessThan(2_000);
    expect(await settled(ada, (lanes) => lanes.lanesInUse === 1)).toMatchObject({
      lanes: 8,
      lanesNote: expect.stringContaining("7 of 8 ports do not reach the peer"),
    });

    await grace.host.must("nft", argv`delete table inet narrow`);
    const healing = pacedFlows(road, FLOWS, 6);
    await settled(ada, (lanes) => lanes.lanesInUse === 8);
    expect(await healing).toMatchObject({ silentFlows: 0 });

    await grace.program.stop();
    await grace.up({ ...FOUR_WORKERS, WEFT_LANES: "off" });
    const none = { lanes: 1, lanesInUse: 1, lanesNote: "the peer offers none" };
    expect(await settled(ada, (lanes) => lanes.lanes === 1 && lanes.lanesNote !== null)).toEqual(none);
    const plain = await pacedFlows(road, FLOWS, 1);
    expect(plain).toMatchObject({ returned: plain.sent, reordered: 0 });
  } finally {
    await stopMesh();
  }
});

/** What an agent says about the lanes to the other host, once it is what is waited for. */
async function settled(agent: Agent, isWanted: (lanes: Lanes) => boolean): Promise<Lanes> {
  return eventually(`the lanes of ${agent.name}`, { withinMs: 20_000 }, async () => {
    const { stdout } = await agent.weft("status", "--json");
    const [peer] = z.object({ peers: z.array(LanesSchema) }).parse(JSON.parse(stdout)).peers;
    return peer && isWanted(peer) ? peer : undefined;
  });
}

async function endpointOf(agent: Agent): Promise<string | null | undefined> {
  const { stdout } = await agent.weft("status", "--json");
  const { peers } = z
    .object({ peers: z.array(z.object({ endpoint: z.string().nullable() })) })
    .parse(JSON.parse(stdout));
  return peers[0]?.endpoint;
}

/** Counts what comes in for the tunnel, by source port. */
async function watchPorts(host: Host): Promise<void> {
  await host.must("nft", ["-f", "-"], {
    input: `table inet watch {
      set seen { type inet_service; flags dynamic; size 64; counter; }
      chain input { type filter hook input priority -10; udp dport 51820 add @seen { udp sport counter }; }
    }`,
  });
}

async function portsSeen(host: Host): Promise<readonly { readonly port: number; readonly packets: number }[]> {
  const listed = await host.must("nft", argv`list set inet watch seen`);
  return [...listed.matchAll(/(\d+) counter packets (\d+)/g)].map(([, port, packets]) => ({
    port: Number(port),
    packets: Number(packets),
  }));
}

function total(seen: readonly { readonly packets: number }[]): number {
  return seen.reduce((sum, { packets }) => sum + packets, 0);
}

/** What a firewall does that knows one port of the other host only. */
async function dropOtherPorts(host: Host): Promise<void> {
  await host.must("nft", ["-f", "-"], {
    input: `table inet narrow {
      chain input { type filter hook input priority 0; udp dport 51820 udp sport != 51820 drop; }
    }`,
  });
}

/** So many that every lane has some of them. */
const FLOWS = 80;
type Lanes = z.infer<typeof LanesSchema>;
const LanesSchema = z.object({ lanes: z.number(), lanesInUse: z.number(), lanesNote: z.string().nullable() });
