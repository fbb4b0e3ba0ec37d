import { expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import { joinFleet } from "../testing/fleet.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import { connectAgent } from "../testing/simulated-agent.ts";

const PEERS = 200;
const RULES = 500;

test("CP-42 a node gets a map of 200 peers and 500 rules whole, keeps its stream, and hears of the next change", async () => {
  const server = await createTestApp();
  const { owner, network } = await setUp(server.url);
  const { key } = await makeKey(owner, network.id);
  const agents = await joinFleet(server.url, key, PEERS);
  const [subject] = agents;
  if (!subject) throw new Error("no node joined");
  const { peerId } = await subject.next("welcome");
  // Each rule speaks of addresses of its own, so that none can be said together with another.
  const others = agents.slice(1).map((agent) => agent.map().self.peerId);
  const rules = Array.from({ length: RULES }, (_, at) => ({
    name: `rule ${at}`,
    action: "allow",
    source: { kind: "peer", id: others[at % others.length] },
    destination: { kind: "peer", id: peerId },
    protocol: "tcp",
    ports: [{ low: 1_000 + 2 * at, high: 1_000 + 2 * at }],
  }));
  const put = await owner.call(
    "PUT",
    `/api/v1/networks/${network.id}/policy`,
    { rules, tests: [] },
    { "if-match": "*" },
  );
  expect({ status: put.status, body: put.status === 200 ? null : put.body }).toEqual({ status: 200, body: null });
  const isWhole = ({ peers, filter }: ReturnType<typeof subject.map>) =>
    peers.length === PEERS - 1 && filter.length >= RULES;

  const changed = await subject.until(isWhole);
  const fresh = await connectAgent(server.url, { identity: subject.identity });
  const snapshot = await fresh.until(isWhole);
  await owner.call("PATCH", `/api/v1/peers/${others[0] ?? ""}`, { name: "renamed" });
  const after = await fresh.until(({ peers }) => peers.some(({ name }) => name === "renamed"));

  expect(snapshot.filter).toEqual(changed.filter);
  expect(after.filter).toEqual(changed.filter);
  expect(fresh.isClosed()).toBe(false);
  for (const agent of [...agents, fresh]) agent.cut();
  await server.dispose();
}, 240_000);
