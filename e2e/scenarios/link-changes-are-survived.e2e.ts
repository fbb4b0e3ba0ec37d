import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";

import { argv } from "../harness/argv.ts";
import { eventually } from "../harness/eventually.ts";
import { countPings, transferBytes } from "../harness/traffic.ts";
import { test } from "./mesh-test.ts";

test("E2E-12 traffic resumes after the link below was down, without a restart", async ({ mesh }) => {
  const { host } = mesh.grace;
  await host.must("ip", argv`link set eth0 down`);
  expect((await countPings(mesh.road, 2, 200)).received).toBe(0);

  await host.must("ip", argv`link set eth0 up`);
  await eventually("an answer after the link came back", { withinMs: 20_000 }, async () =>
    (await countPings(mesh.road, 1, 100)).received === 1 ? true : undefined,
  );

  expect(await transferBytes(mesh.road, 5_000_000)).toMatchObject({ identical: true });
  expect(mesh.grace.program.isRunning()).toBe(true);
});

test("E2E-12 the tunnel's interface may go down and change its MTU under traffic", async ({ mesh }) => {
  const { host, interfaceName } = mesh.grace;
  const transfer = transferBytes(mesh.road, 30_000_000);
  await pause(100);
  await host.must("ip", argv`link set ${interfaceName} mtu 1300`);
  expect(await transfer).toMatchObject({ identical: true });

  await host.must("ip", argv`link set ${interfaceName} down`);
  await countPings(mesh.road, 2, 100);
  await host.must("ip", argv`link set ${interfaceName} up`);
  await eventually("an answer after the interface came back", { withinMs: 20_000 }, async () =>
    (await countPings(mesh.road, 1, 100)).received === 1 ? true : undefined,
  );

  const overIpv6 = { ...mesh.road, address: mesh.grace.ipv6 };
  expect(await countPings(overIpv6, 3, 100)).toEqual({ sent: 3, received: 3 });
  expect(mesh.grace.program.isRunning()).toBe(true);
});
