import { expect } from "vitest";

import { eventually } from "../harness/eventually.ts";
import { startSteadyPing } from "../harness/steady-ping.ts";
import { test } from "./mesh-test.ts";

test("AP-46 CP-30 F-A13 an expired peer loses access within seconds, and comes back by itself when it is renewed", async ({
  mesh,
}) => {
  const { client } = mesh.owned;
  const peer = `/peers/${mesh.grace.peerId}`;
  const pings = [startSteadyPing(mesh.road, 50), startSteadyPing(mesh.wayBack, 50)];
  await eventually("answers both ways", { withinMs: 5_000 }, () =>
    pings.every(({ answersAtMs }) => answersAtMs.length > 10) ? true : undefined,
  );

  expect(await client.post(`${peer}/expire`)).toMatchObject({ state: "expired" });
  const expiredAtMs = Date.now();
  await eventually("grace without its interface", { withinMs: 10_000 }, async () => {
    const links = await mesh.grace.host.must("ip", ["-brief", "link"]);
    return links.includes(mesh.grace.interfaceName) ? undefined : true;
  });
  for (const ping of pings) await ping.stop();

  for (const { answersAtMs } of pings) expect((answersAtMs.at(-1) ?? 0) - expiredAtMs).toBeLessThan(2_000);
  expect(await client.get(peer)).toMatchObject({ state: "expired", presence: "offline" });
  expect((await mesh.ada.weft("status", "--json")).stdout).not.toContain(mesh.grace.ipv4);
  expect((await mesh.grace.weft("status")).stdout).toContain("membership has expired");

  expect(await client.patch(peer, { expiresAt: null })).toMatchObject({ state: "active" });
  // The agent asks again after 30 to 60 s.
  const back = startSteadyPing(mesh.road, 200);
  await eventually("answers again", { withinMs: 90_000 }, () => (back.answersAtMs.length > 3 ? true : undefined));
  await back.stop();
  expect(await client.get(peer)).toMatchObject({ state: "active", presence: "online" });
}, 180_000);
