import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";

import { argv } from "../harness/argv.ts";
import type { Agent } from "../harness/agents.ts";
import { eventually } from "../harness/eventually.ts";
import { startMesh, stopMesh, type Mesh } from "../harness/mesh.ts";
import { type RoutedNetwork, startRoutedNetwork } from "../harness/routed-network.ts";
import { whyNoMesh } from "../harness/tools.ts";
import { exchangeDatagrams, transferBytes, type Road } from "../harness/traffic.ts";

beforeEach(({ skip }) => {
  const reason = whyNoMesh(["nft"]);
  if (reason !== undefined) skip(reason);
});
afterEach(stopMesh);

describe.each([4, 6] as const)("over IPv%s", (family) => {
  test.each([
    { mtu: 1_400, routers: "tell" },
    { mtu: 1_300, routers: "tell" },
    { mtu: 1_400, routers: "swallow" },
    { mtu: 1_300, routers: "swallow" },
  ] as const)(
    "LIM-07 P-54 a path of $mtu whose routers $routers is found and carries bulk",
    async ({ mtu, routers }) => {
      const { mesh } = await routed({ family, linkMtu: 1_500, mtu, routers });

      expect(await transferBytes(mesh.road, 20_000_000)).toMatchObject({ identical: true });
      expect(await transferBytes(mesh.wayBack, 20_000_000)).toMatchObject({ identical: true });

      for (const agent of [mesh.ada, mesh.grace]) {
        const found = await settled(agent, mtu);
        expect(found).toBeLessThanOrEqual(fitting(mtu, family));
        expect(fitting(mtu, family) - found).toBeLessThanOrEqual(8);
      }
      // Datagrams that were too long for a bound still being searched are lost; none is once both ends know the path.
      await everythingCrosses(mesh);
    },
  );

  test(
    "P-54 datagrams that fit every path are never lost while a narrower path is searched for",
    { timeout: 600_000 },
    async () => {
      const { mesh, network } = await routed({ family, linkMtu: 1_500, mtu: 1_500, routers: "swallow" });
      for (const agent of [mesh.ada, mesh.grace]) await settled(agent, 1_500);
      await network.carry(1_400);

      let exchanges = 0;
      for (let searching = true; searching; exchanges += 1) {
        // Read first: the last exchange begins when both ends know the path.
        const found = await Promise.all([mesh.ada, mesh.grace].map(foundPath));
        searching = found.some((mtu) => mtu === undefined || mtu > fitting(1_400, family));
        const roads = [mesh.road, mesh.wayBack];
        // Large packets make both ends notice; none comes through. Between the exchanges: a router that gets a large and a
        // small segment in one super-packet, as over these cables, drops both.
        await Promise.all(roads.map(sendLarge));
        for (const road of roads) {
          expect(await exchangeDatagrams(road, SMALL_BYTES_MAX[family])).toMatchObject({ lost: 0, altered: 0 });
        }
      }
      expect(exchanges).toBeGreaterThan(1);
    },
  );

  test("P-54 a path that becomes narrow under bulk heals without anybody being told", async () => {
    const { mesh, network } = await routed({ family, linkMtu: 1_500, mtu: 1_500, routers: "swallow" });
    expect(await transferBytes(mesh.road, 5_000_000)).toMatchObject({ identical: true });
    await settled(mesh.ada, 1_500);

    const transfer = transferBytes(mesh.road, 400_000_000);
    await network.carry(1_400);
    expect(await transfer).toMatchObject({ identical: true });

    const found = await settled(mesh.ada, 1_400);
    expect(fitting(1_400, family) - found).toBeLessThanOrEqual(8);
    await network.carry(1_500);
    await everythingCrosses(mesh);
  });
});

test("LIM-06 a path of 9,000 gives the interface a larger MTU where it may grow, and a narrow one takes it back", async () => {
  const grow = { WEFT_MTU: "auto" };
  const { mesh, network } = await routed({ family: 4, linkMtu: 9_000, mtu: 9_000, routers: "tell" }, grow);
  expect(await transferBytes(mesh.road, 5_000_000)).toMatchObject({ identical: true });

  expect(await settled(mesh.ada, 9_000)).toBe(8_940);
  expect(await interfaceMtu(mesh.ada)).toBe(8_940);
  await everythingCrosses(mesh);

  await network.carry(1_500);
  await everythingCrosses(mesh);
  await eventually("the interface as narrow as the path", { withinMs: 30_000 }, async () =>
    (await interfaceMtu(mesh.ada)) === 1_440 ? true : undefined,
  );
});

test("an MTU set for a host holds whatever the map says", async () => {
  const { mesh } = await routed({ family: 4, linkMtu: 1_500, mtu: 1_500, routers: "tell" }, { WEFT_MTU: "1300" });

  expect(await interfaceMtu(mesh.ada)).toBe(1_300);
  await everythingCrosses(mesh);
  expect(await settled(mesh.ada, 1_300)).toBe(1_300);
});

type Setting = {
  readonly family: 4 | 6;
  readonly linkMtu: number;
  readonly mtu: number;
  readonly routers: "tell" | "swallow";
};

async function routed(
  setting: Setting,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly mesh: Mesh; readonly network: RoutedNetwork }> {
  const network = await startRoutedNetwork(setting.linkMtu);
  await network.carry(setting.mtu);
  await network.setRouters(setting.routers);
  await network.allowOnly(setting.family);
  const mesh = await startMesh({ ada: env, grace: env, network: () => Promise.resolve(network) });
  return { mesh, network };
}

/** Bulk in both directions and both inner families, and datagrams of every size. */
async function everythingCrosses(mesh: Mesh): Promise<void> {
  const overIpv6 = { ...mesh.road, address: mesh.grace.ipv6 };
  for (const road of [mesh.road, mesh.wayBack, overIpv6]) {
    expect(await transferBytes(road, 20_000_000)).toMatchObject({ identical: true });
  }
  expect(await exchangeDatagrams(mesh.road, DATAGRAM_BYTES_MAX)).toMatchObject({ lost: 0 });
}

/** Two echo requests as long as the tunnel's MTU, whether anybody answers or not. */
async function sendLarge({ from, address }: Road): Promise<void> {
  await from.run("ping", argv`-n -q -c 2 -i 0.1 -W 1 -s ${LARGE_BYTES} ${address}`);
}

/** The inner MTU of the path to the only peer, once it is verified. */
async function settled(agent: Agent, mtu: number): Promise<number> {
  const what = `the path of ${String(mtu)} verified by ${agent.name}`;
  return eventually(what, { withinMs: 60_000 }, () => foundPath(agent));
}

/** The inner MTU of the path to the only peer, if it is verified at present. */
async function foundPath(agent: Agent): Promise<number | undefined> {
  const { stdout } = await agent.weft("status", "--json");
  const [peer] = StatusSchema.parse(JSON.parse(stdout)).peers;
  return peer?.pathMtu.state === "verified" ? peer.pathMtu.mtu : undefined;
}

async function interfaceMtu(agent: Agent): Promise<number> {
  const output = await agent.host.must("ip", argv`-json link show ${agent.interfaceName}`);
  const [link] = z.array(z.object({ mtu: z.number() })).parse(JSON.parse(output));
  return link?.mtu ?? 0;
}

/** The longest inner packet in a packet of that size. */
function fitting(mtu: number, family: 4 | 6): number {
  return mtu - (family === 4 ? 28 : 48) - 32;
}

/** Fits the narrowest path here: 1,300 over IPv6, less all headers and the 8 bytes at which the search ends. */
const DATAGRAM_BYTES_MAX = 1_184;
/** Fits every path: 576 over IPv4, 1,280 over IPv6, less all headers. */
const SMALL_BYTES_MAX = { 4: 576 - 28 - 32 - 28, 6: 1_280 - 48 - 32 - 28 } as const;
/** An echo request that fills the tunnel's 1,420. */
const LARGE_BYTES = 1_392;
const StatusSchema = z.object({
  peers: z.array(z.object({ pathMtu: z.object({ state: z.string(), mtu: z.number().optional() }) })),
});
