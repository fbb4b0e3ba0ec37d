import { CAPABILITY, laneCapability } from "@weft/protocol";
import type { NetworkMap } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent } from "../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let joinKey: string;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner, network } = await setUp(server.url));
  joinKey = (await makeKey(owner, network.id)).key;
});
afterAll(() => server.dispose());

const FAST = [CAPABILITY.aes256Gcm, CAPABILITY.elision];

async function join(capabilities: readonly string[]): Promise<SimulatedAgent> {
  const agent = await connectAgent(server.url, { joinKey, capabilities });
  await agent.until(() => true);
  return agent;
}

const profileIn = (map: NetworkMap, agent: SimulatedAgent) =>
  map.peers.find(({ publicKey }) => publicKey === agent.identity.publicKey)?.profile;

const knows = (agent: SimulatedAgent) => (map: NetworkMap) =>
  map.peers.some(({ publicKey }) => publicKey === agent.identity.publicKey);

test("two nodes that announce the same get the same profile in both maps, a third that announces nothing gets none", async () => {
  const [first, second, old] = [await join(FAST), await join(FAST), await join([])];

  const firstMap = await first.until((map) => knows(second)(map) && knows(old)(map));
  const secondMap = await second.until((map) => knows(first)(map) && knows(old)(map));
  const oldMap = await old.until((map) => knows(first)(map) && knows(second)(map));

  expect(profileIn(firstMap, second)).toEqual({ revision: 1, cipher: "aes-256-gcm", elision: "on", lanes: 1 });
  expect(profileIn(secondMap, first)).toEqual(profileIn(firstMap, second));
  expect([profileIn(firstMap, old), profileIn(secondMap, old)]).toEqual([undefined, undefined]);
  expect(oldMap.peers.map(({ profile }) => profile)).toEqual(oldMap.peers.map(() => undefined));
  for (const agent of [first, second, old]) agent.leave();
});

test("the lanes of a pair are the fewer of what both announce, and a node that offers none has one with everybody", async () => {
  const [eight, four, none] = [
    await join([...FAST, laneCapability(8)]),
    await join([...FAST, laneCapability(4)]),
    await join(FAST),
  ];

  const eightMap = await eight.until((map) => knows(four)(map) && knows(none)(map));
  const fourMap = await four.until((map) => knows(eight)(map) && knows(none)(map));

  expect(profileIn(eightMap, four)).toMatchObject({ revision: 1, lanes: 4 });
  expect(profileIn(fourMap, eight)).toEqual(profileIn(eightMap, four));
  expect([profileIn(eightMap, none)?.lanes, profileIn(fourMap, none)?.lanes]).toEqual([1, 1]);
  for (const agent of [eight, four, none]) agent.leave();
});

test("a node that comes back with other capabilities changes the profile in its own map and in those of all others", async () => {
  const [first, second] = [await join(FAST), await join(FAST)];
  await first.until(knows(second));
  await second.until(knows(first));
  const lastMap = first.version();
  first.leave();

  const back = await connectAgent(server.url, {
    identity: first.identity,
    lastMap,
    capabilities: [CAPABILITY.elision],
  });

  const slower = { revision: 1, cipher: "chacha20-poly1305", elision: "on", lanes: 1 };
  const own = await back.until((map) => profileIn(map, second)?.cipher === "chacha20-poly1305");
  const others = await second.until((map) => profileIn(map, first)?.cipher === "chacha20-poly1305");
  expect(profileIn(own, second)).toEqual(slower);
  expect(profileIn(others, first)).toEqual(slower);
  for (const agent of [back, second]) agent.leave();
});

test("the policy is refuse until an administrator says plain, and nodes are told", async () => {
  const agent = await join(FAST);
  expect(agent.map().self.profileFallback).toBe("refuse");
  const before = await owner.get(`/api/v1/networks/${network.id}`);
  expect(before.body.profileFallback).toBe("refuse");

  const changed = await owner.call(
    "PATCH",
    `/api/v1/networks/${network.id}`,
    { profileFallback: "plain" },
    { "if-match": before.headers.get("etag") ?? "" },
  );

  expect(changed.status).toBe(200);
  expect(changed.body).toMatchObject({ name: network.name, profileFallback: "plain" });
  await agent.until(({ self }) => self.profileFallback === "plain");
  agent.leave();
});
