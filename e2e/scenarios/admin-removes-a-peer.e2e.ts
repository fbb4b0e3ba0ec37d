import { expect } from "vitest";

import { listPeers } from "../harness/agents.ts";
import { eventually } from "../harness/eventually.ts";
import { startSteadyPing } from "../harness/steady-ping.ts";
import { test } from "./mesh-test.ts";

test("a removed peer loses access within a second and its agent takes its interface down", async ({ mesh }) => {
  const { client, networkId } = mesh.owned;
  const ping = startSteadyPing(mesh.road, 20);
  await eventually("answers", { withinMs: 5_000 }, () => (ping.answersAtMs.length > 10 ? true : undefined));

  await client.remove(`/peers/${mesh.grace.peerId}`);
  const removedAtMs = Date.now();
  await eventually("grace without its interface", { withinMs: 10_000 }, async () => {
    const links = await mesh.grace.host.must("ip", ["-brief", "link"]);
    return links.includes(mesh.grace.interfaceName) ? undefined : true;
  });
  await ping.stop();

  expect((ping.answersAtMs.at(-1) ?? 0) - removedAtMs).toBeLessThan(1_000);
  expect((await listPeers(client, networkId)).map(({ name }) => name)).toEqual(["ada"]);
  const status = await mesh.ada.weft("status", "--json");
  expect(status.stdout).not.toContain(mesh.grace.ipv4);
});
