import { expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../testing/simulated-agent.ts";

const HOUR_MS = 3_600_000;

function tell(agent: SimulatedAgent, clocks: { readonly wallClockMs: number; readonly clockSkewMs: number | null }) {
  const rest = {
    interfaceName: "weft0",
    listenPort: 1,
    shards: 1,
    endpoints: [],
    offloads: [],
    problems: ["p"],
    forwarding: null,
  };
  agent.send({ kind: "status", status: { ...rest, ...clocks } });
}

test("AP-7 a server whose clock is hours off tells its own in welcome and pong, and shows the skew of each node", async () => {
  const nowMs = () => Date.now() - 30 * HOUR_MS;
  const server = await createTestApp({ clock: { nowMs } });
  const { owner, network } = await setUp(server.url);
  const joinKey = (await makeKey(owner, network.id)).key;
  const exact = await connectAgent(server.url, { joinKey });
  const { peerId, wallClockMs } = await exact.next("welcome");
  const old = await connectAgent(server.url, { joinKey });
  const oldId = (await old.next("welcome")).peerId;
  await exact.until(({ peers }) => peers.length === 1);
  exact.send({ kind: "ping", token: 3n });
  const pong = await exact.next("pong");

  for (const told of [wallClockMs, pong.wallClockMs]) expect(Math.abs((told ?? 0) - nowMs())).toBeLessThan(60_000);
  const seen = async (id: string) => (await owner.get(`/api/v1/peers/${id}`)).body;
  expect(await seen(peerId)).toMatchObject({ clockSkewMs: null, problems: [] });
  tell(exact, { wallClockMs: Date.now(), clockSkewMs: 107_999_500 });
  // One that measures nothing still tells its clock.
  tell(old, { wallClockMs: Date.now(), clockSkewMs: null });

  await eventually("the figure", async () => (await seen(peerId)).clockSkewMs === 107_999_500 || undefined);
  await eventually("the rough figure", async () => (await seen(oldId)).clockSkewMs !== null || undefined);
  expect((await seen(peerId)).problems).toEqual(["p"]);
  expect(Math.abs((await seen(oldId)).clockSkewMs - 30 * HOUR_MS)).toBeLessThan(60_000);
  // The list says the same, and what a node said is nothing once it is away.
  const { items } = (await owner.get(`/api/v1/networks/${(await seen(peerId)).networkId}/peers`)).body;
  expect(items.find((one: { readonly id: string }) => one.id === peerId).clockSkewMs).toBe(107_999_500);
  exact.leave();
  await eventually("it is away", async () => (await seen(peerId)).clockSkewMs === null || undefined);
  expect((await seen(peerId)).problems).toEqual([]);
  old.leave();
  await server.dispose();
});
