import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";

import { listPeers, type Agent } from "../harness/agents.ts";
import { eventually } from "../harness/eventually.ts";
import { startSteadyPing } from "../harness/steady-ping.ts";
import { countPings, steadyStream } from "../harness/traffic.ts";
import type { Mesh } from "../harness/mesh.ts";
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
  await mesh.server.program.stop();
  for (const agent of [mesh.ada, mesh.grace]) {
    await seesNoServer(agent);
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

test("a host that starts again with a newer link profile than the other talks to it while the server is away", async ({
  mesh,
}) => {
  await eventually("a link profile at both hosts", { withinMs: 60_000 }, async () => {
    const states = await Promise.all([mesh.ada, mesh.grace].map(profileOf));
    return states.every((state) => state === "active") ? true : undefined;
  });
  await hearNothingMore(mesh);
  await mesh.ada.program.stop();
  const newer = await mesh.ada.up(OFFERS_NOTHING);
  await eventually("the map without a profile at ada", { withinMs: 60_000 }, async () => {
    const state = await profileOf(newer);
    return state === "changing" || state === "plain" ? true : undefined;
  });
  await mesh.server.program.stop();
  await seesNoServer(newer);
  newer.program.signal("SIGKILL");
  await newer.program.ended;

  const again = await newer.up(OFFERS_NOTHING);
  await eventually("an answer under the profile before", { withinMs: 120_000 }, async () =>
    (await countPings(mesh.wayBack, 1, 100)).received === 1 ? true : undefined,
  );

  expect(await countPings(mesh.road, 20, 20)).toEqual({ sent: 20, received: 20 });
  expect(await profileOf(again)).toBe("changing");
});

const OFFERS_NOTHING = { WEFT_CIPHER: "chacha20", WEFT_CHECKSUM_ELISION: "off" };

/** From here on nothing of the server reaches grace; ada and grace still reach each other. */
async function hearNothingMore({ hub, grace }: Mesh): Promise<void> {
  const { stdout } = await grace.host.run("ip", ["-json", "address", "show", "dev", "eth0"]);
  const [link]: readonly { readonly addr_info: readonly { readonly local: string }[] }[] = JSON.parse(stdout);
  for (const { local } of link?.addr_info ?? []) await hub.run("ip", ["route", "add", "blackhole", local]);
}

/** Until then the agent may not have written what it heard last. */
async function seesNoServer(agent: Agent): Promise<void> {
  await eventually(`${agent.name} without a server`, { withinMs: 60_000 }, async () => {
    const { server } = await statusOf(agent);
    return server.state === "connected" ? undefined : true;
  });
}

/** The state of the link profile with the one other host. */
async function profileOf(agent: Agent): Promise<string | undefined> {
  return (await statusOf(agent)).peers[0]?.profile;
}

type Status = { readonly server: { readonly state: string }; readonly peers: readonly { readonly profile: string }[] };

async function statusOf(agent: Agent): Promise<Status> {
  const { stdout } = await agent.weft("status", "--json");
  return JSON.parse(stdout) as Status;
}
