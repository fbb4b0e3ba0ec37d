import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";

import { listPeers, type Agent } from "../harness/agents.ts";
import { eventually } from "../harness/eventually.ts";
import { startSteadyPing } from "../harness/steady-ping.ts";
import { countPings, steadyStream } from "../harness/traffic.ts";
import { test } from "./mesh-test.ts";

/** 15 s, give or take 10 %. */
const HEARTBEAT_MS = 16_500;

test("killing the server under traffic loses no packet, and all hosts are online one heartbeat later", async ({
  mesh,
}) => {
  const ping = startSteadyPing(mesh.road, 10);
  const stream = steadyStream(mesh.wayBack, 5, 8);
  await pause(2_000);
  mesh.server.program.signal("SIGKILL");
  await mesh.server.program.ended;
  await pause(2_000);
  const server = await mesh.server.restart();
  const { client, networkId } = mesh.owned;
  await eventually("every host online again", { withinMs: HEARTBEAT_MS }, async () => {
    const rows = await listPeers(client, networkId);
    return rows.length === 2 && rows.every(({ presence }) => presence === "online") ? true : undefined;
  });
  const { answeredSteps, sentSteps, longestGapMs } = await stream;
  const counted = await ping.stop();

  expect(counted.sent).toBeGreaterThan(300);
  // The last request may still be on the road when ping is stopped.
  expect(counted.sent - counted.received).toBeLessThanOrEqual(1);
  expect(answeredSteps).toBe(sentSteps);
  expect(longestGapMs).toBeLessThan(1_000);
  await server.stop();
});

test("hosts that start while the server is away build the mesh from their last map", async ({ mesh }) => {
  for (const agent of [mesh.ada, mesh.grace]) await knowsItsPeer(agent);
  await mesh.server.program.stop();
  for (const agent of [mesh.ada, mesh.grace]) {
    agent.program.signal("SIGKILL");
    await agent.program.ended;
  }

  await Promise.all([mesh.ada.up(), mesh.grace.up()]);
  await eventually("an answer without a server", { withinMs: 15_000 }, async () =>
    (await countPings(mesh.road, 1, 100)).received === 1 ? true : undefined,
  );

  expect(await countPings(mesh.road, 20, 20)).toEqual({ sent: 20, received: 20 });
  expect(await countPings(mesh.wayBack, 20, 20)).toEqual({ sent: 20, received: 20 });
});

/** The map that tells the agent how to talk to the other host has arrived: the last map both start from later. */
async function knowsItsPeer(agent: Agent): Promise<void> {
  await eventually(`the whole map at ${agent.name}`, { withinMs: 20_000 }, async () => {
    const { stdout } = await agent.weft("status", "--json");
    const { peers }: { readonly peers: readonly { readonly profile: string }[] } = JSON.parse(stdout);
    return peers.every(({ profile }) => profile !== "plain") && peers.length === 1 ? true : undefined;
  });
}
