import { expect } from "vitest";

import { listPeers } from "../harness/agents.ts";
import { eventually } from "../harness/eventually.ts";
import { countPings } from "../harness/traffic.ts";
import { test } from "./mesh-test.ts";

test("an agent that was killed starts again with its identity and addresses", async ({ mesh }) => {
  const { grace, road, owned } = mesh;
  const before = await listPeers(owned.client, owned.networkId);
  grace.program.signal("SIGKILL");
  await grace.program.ended;
  expect((await countPings(road, 2, 200)).received).toBe(0);

  const again = await grace.up();
  await eventually("an answer after the restart", { withinMs: 15_000 }, async () =>
    (await countPings(road, 1, 100)).received === 1 ? true : undefined,
  );

  const after = await listPeers(owned.client, owned.networkId);
  expect(after.map(({ id, ipv4 }) => ({ id, ipv4 }))).toEqual(before.map(({ id, ipv4 }) => ({ id, ipv4 })));
  expect(await countPings(road, 20, 20)).toEqual({ sent: 20, received: 20 });
  await again.program.stop();
});

test("an agent that is asked to stop removes its interface within five seconds", async ({ mesh }) => {
  const { grace } = mesh;
  const before = await grace.host.must("ip", ["link", "show", "dev", grace.interfaceName]);
  const code = await grace.program.stop(5_000);

  expect(before).toContain(grace.interfaceName);
  expect(code).toBe(0);
  const links = await grace.host.must("ip", ["-brief", "link"]);
  const routes = await grace.host.must("ip", ["route", "show", "table", "all"]);
  expect(links).not.toContain(grace.interfaceName);
  expect(routes).not.toContain(grace.interfaceName);
});
