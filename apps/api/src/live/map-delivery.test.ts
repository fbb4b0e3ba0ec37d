import type { NetworkMap, ServerFrame } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lockNetwork, publishChanges } from "../db/networks-repository.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let made = 0;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner } = await setUp(server.url));
});
afterAll(() => server.dispose());

/** A network of its own where all may reach all. */
async function openNetwork(): Promise<{ readonly network: Json; readonly joinKey: string }> {
  made += 1;
  const network = (await owner.post("/api/v1/networks", { name: `n${made}` })).body;
  await owner.post(`/api/v1/networks/${network.id}/rules`, {});
  return { network, joinKey: (await makeKey(owner, network.id)).key };
}

async function join(joinKey: string): Promise<{ readonly agent: SimulatedAgent; readonly id: string }> {
  const agent = await connectAgent(server.url, { joinKey });
  const { peerId } = await agent.next("welcome");
  await agent.until(() => true);
  return { agent, id: peerId };
}

test("AP-20 CP-10 no change comes before the first map or the confirmation, however many changes there are", async () => {
  const { joinKey } = await openNetwork();
  const busy = await join(joinKey);
  const isOver = new AbortController();
  let changes = 0;
  const churn = (async () => {
    while (!isOver.signal.aborted) {
      changes += 1;
      await owner.call("PATCH", `/api/v1/peers/${busy.id}`, { name: `name-${changes}` });
    }
  })();

  const newcomers: SimulatedAgent[] = [];
  const back: SimulatedAgent[] = [];
  for (let round = 0; round < 2; round += 1) {
    const joined = await Promise.all([0, 1, 2].map(() => connectAgent(server.url, { joinKey })));
    await Promise.all(joined.map((agent) => agent.until(({ peers }) => peers.length > 0)));
    // They come back with what they know, which is current or is not, as the churn will have it.
    for (const { identity, version, cut } of joined) {
      const lastMap = version();
      cut();
      back.push(await connectAgent(server.url, { identity, lastMap }));
    }
    newcomers.push(...joined);
  }
  const seen = changes;
  await Promise.all(back.map((agent) => agent.next("delta")));
  isOver.abort();
  await churn;

  expect(seen).toBeGreaterThan(0);
  for (const { frames } of [...newcomers, ...back]) {
    const welcome = frames.find((frame) => frame.kind === "welcome");
    const first = frames.find(({ kind }) => kind === "delta" || kind === "mapEnd");
    if (welcome?.mode === "snapshot") expect(first?.kind).toBe("mapEnd");
    // What follows a confirmation continues exactly where the node said it was; it never had to ask.
    expect(chainOf(frames)).toEqual([]);
  }
  for (const agent of [busy.agent, ...newcomers, ...back]) agent.cut();
});

/** Changes that do not continue what came before them. */
function chainOf(frames: readonly ServerFrame[]): readonly bigint[] {
  let at: bigint | undefined;
  return frames.flatMap((frame) => {
    if (frame.kind === "mapBegin") at = frame.sequence;
    if (frame.kind !== "delta") return [];
    const isGap = at !== undefined && frame.baseSequence !== at;
    at = frame.sequence;
    return isGap ? [frame.sequence] : [];
  });
}

test("AP-26 CP-5 a failed read makes no map: nodes keep what they have, nobody gets an empty one, and all converge by themselves", async () => {
  const { network, joinKey } = await openNetwork();
  const [one, two] = [await join(joinKey), await join(joinKey)];
  await one.agent.until(({ peers }) => peers.length === 1);
  await two.agent.until(({ peers }) => peers.length === 1);
  const before = [one, two].map(({ agent }) => agent.map());
  const { db, sql, dispose } = server.database.connect();

  await sql`alter table rules rename to rules_elsewhere`;
  await db.transaction(async (tx) => {
    await lockNetwork(tx, network.id);
    const changes = [{ kind: "rules" }, { kind: "peer", peerId: one.agent.map().self.peerId }] as const;
    await publishChanges(tx, network.id, { changes, at: new Date() });
  });
  await eventually("two failed reads", () => (failedReads() >= 2 ? true : undefined));
  const stranger = await connectAgent(server.url, { joinKey });
  await eventually("the refusal", () => stranger.frames.find(({ kind }) => kind === "bye"));
  const meanwhile = [one, two].map(({ agent }) => agent.map());
  await sql`alter table rules_elsewhere rename to rules`;
  await dispose();
  await owner.call("PATCH", `/api/v1/peers/${one.id}`, { name: "after-the-fault" });
  const after = await two.agent.until(({ peers }) => peers.some(({ name }) => name === "after-the-fault"));

  expect(meanwhile).toEqual(before);
  expect(stranger.frames.map(({ kind }) => kind)).not.toContain("mapBegin");
  expect(await stranger.next("bye")).toMatchObject({ reason: "overload" });
  expect(after.filter).toEqual(before[1]?.filter);
  const back = await connectAgent(server.url, { identity: stranger.identity, joinKey });
  await back.until(({ peers }) => peers.length === 2);
  for (const agent of [one.agent, two.agent, stranger, back]) agent.cut();
});

function failedReads(): number {
  return server.logText().split("network_not_read").length - 1;
}

test("CP-2 a node with a range behind it learns of every peer that comes later, and each of them of the range", async () => {
  const { joinKey } = await openNetwork();
  const router = await join(joinKey);
  const { body: route } = await owner.post(`/api/v1/peers/${router.id}/routes`, { prefix: "10.44.0.0/16" });
  await owner.post(`/api/v1/routes/${route.id}/approve`);

  const later = [await join(joinKey), await join(joinKey), await join(joinKey)];

  const routeOf = ({ peers }: NetworkMap) => peers.find(({ id }) => id === router.id)?.routes.join();
  for (const { agent } of later) await agent.until((map) => routeOf(map) === "10.44.0.0/16");
  const map = await router.agent.until(({ peers }) => peers.length === later.length);
  expect(map.peers.map(({ id }) => id).toSorted()).toEqual(later.map(({ id }) => id).toSorted());
  await owner.call("DELETE", `/api/v1/routes/${route.id}`);
  for (const { agent } of later) await agent.until((changed) => routeOf(changed) === "");
  for (const { agent } of [router, ...later]) agent.cut();
});

test("API-9 CP-29 the answer to every change of a peer is what is read a moment later, also of what only memory knows", async () => {
  const { network, joinKey } = await openNetwork();
  const { agent, id } = await join(joinKey);
  const read = async () => (await owner.get(`/api/v1/peers/${id}`)).body;
  const { body: group } = await owner.post(`/api/v1/networks/${network.id}/groups`, { name: "web" });
  await eventually("the applied map", async () => ((await read()).map.state === "applied" ? true : undefined));
  const calls: readonly (readonly [string, string, object | undefined])[] = [
    ["PATCH", "", { name: "renamed" }],
    ["PATCH", "", { groupIds: [group.id] }],
    ["PATCH", "", { expiresAt: "2999-01-01T00:00:00.000Z" }],
    ["POST", "/approve", {}],
    ["POST", "/disable", {}],
    ["POST", "/enable", {}],
    ["POST", "/expire", {}],
  ];

  for (const [method, path, body] of calls) {
    const answer = await owner.call(method, `/api/v1/peers/${id}${path}`, body);
    const later = await read();

    expect([answer.status, path]).toEqual([200, path]);
    // How far the node is with its map goes on meanwhile.
    expect(withoutProgress(answer.body)).toEqual(withoutProgress(later));
    if (method === "PATCH") expect(answer.body.presence).toBe("online");
  }
  agent.cut();
});

function withoutProgress({ map: _map, lastSeenAt: _lastSeenAt, ...rest }: Json): Json {
  return rest;
}
