import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";

/** A clock that fails for the callers in one file is a way into every handler and timer of the real server. */
let fault: { readonly file: string; times: number } | undefined;
let server: TestApp;
let joinKey: string;

beforeAll(async () => {
  server = await createTestApp({ clock: { nowMs } });
  const { owner, network } = await setUp(server.url);
  joinKey = (await makeKey(owner, network.id)).key;
});
afterAll(() => server.dispose());

function nowMs(): number {
  if (fault && fault.times > 0 && new Error("where").stack?.split("\n")[2]?.includes(`/${fault.file}`)) {
    fault.times -= 1;
    throw new Error("the clock is broken");
  }
  return Date.now();
}

test("an error in the handling of one agent's frame ends that stream only", async () => {
  const agents = [await connectAgent(server.url, { joinKey }), await connectAgent(server.url, { joinKey })];
  for (const agent of agents) await agent.until(() => true);

  // Either of them may be the next to say something: a new neighbour is a change that both answer.
  fault = { file: "node-session.ts", times: 1 };
  agents[0]?.send({ kind: "ping", token: 1n });
  const unlucky = await eventually("the end of one stream", () => agents.find((agent) => agent.isClosed()));
  const other = await eventually("the other stream", () => agents.find((agent) => agent !== unlucky));
  const back = await connectAgent(server.url, { identity: unlucky.identity });
  other.send({ kind: "ping", token: 2n });

  expect(fault.times).toBe(0);
  expect(await unlucky.next("bye")).toMatchObject({ reason: "overload", retryAfterMs: 5_000 });
  await eventually("the pong", () => other.frames.find((frame) => frame.kind === "pong" && frame.token === 2n));
  expect(other.isClosed()).toBe(false);
  expect((await back.next("welcome")).peerId).toBe((await unlucky.next("welcome")).peerId);
  expect(server.logText()).toContain("agent_stream_failed");
  back.leave();
  other.leave();
});

test.each([
  { file: "heartbeats.ts", event: "heartbeats_failed" },
  { file: "network-charts.ts", event: "dashboards_not_fed" },
])("an error in one round of $file is logged, and the next round runs", async ({ file, event }) => {
  const agent = await connectAgent(server.url, { joinKey });
  await agent.until(() => true);

  fault = { file, times: 2 };
  await eventually("two failed rounds", () => fault?.times === 0 || undefined);
  agent.send({ kind: "ping", token: 3n });

  expect(await agent.next("pong")).toMatchObject({ token: 3n });
  expect(server.logText()).toContain(event);
  agent.leave();
});
