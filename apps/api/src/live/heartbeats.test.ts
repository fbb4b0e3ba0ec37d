import { afterAll, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";

let server: TestApp | undefined;
afterAll(() => server?.dispose());

test("AP-40 heartbeats go on when the server's wall clock is set back by an hour", async () => {
  let setBackMs = 0;
  // Twenty times as fast as the day, so that a heartbeat is under a second.
  const beganMs = performance.now();
  server = await createTestApp({
    clock: { nowMs: () => 1_800_000_000_000 + Math.floor((performance.now() - beganMs) * 20) - setBackMs },
  });
  const { owner, network } = await setUp(server.url);
  const agent = await connectAgent(server.url, { joinKey: (await makeKey(owner, network.id)).key });
  const pings = () => agent.frames.filter(({ kind }) => kind === "ping").length;
  await eventually("the first heartbeat", () => pings() > 0 || undefined);

  setBackMs = 3_600_000;
  const before = pings();

  // One may have been on its way.
  await eventually("later heartbeats", () => pings() > before + 1 || undefined);
  expect(agent.isClosed()).toBe(false);
  agent.leave();
});
