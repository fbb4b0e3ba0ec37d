import { expect, test } from "vitest";
import { TRAFFIC_KEEP } from "../domain/traffic-steps.ts";
import { prune } from "../jobs/prune.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";

test("a flood of health checks costs the database one question a second", async () => {
  let nowMs = Date.now();
  const server = await createTestApp({ clock: { nowMs: () => nowMs } });
  // Beside them the server does what it does by the clock.
  const questions = () => server.takeStatements().filter((text) => text.trim() === "select 1");
  questions();

  const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(`${server.url}/healthz`)));
  const first = questions();
  nowMs += 1_000;
  await Promise.all(Array.from({ length: 50 }, () => fetch(`${server.url}/healthz`)));
  const second = questions();
  await server.dispose();

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(first).toHaveLength(1);
  expect(second).toHaveLength(1);
});

test("guesses at the setup token from one address do not keep another one waiting", async () => {
  const setupToken = "a-fixed-setup-token";
  const server = await createTestApp({ environment: { WEFT_SETUP_TOKEN: setupToken, WEFT_TRUST_PROXY: "true" } });
  const client = createRestClient(server.url);
  const body = { login: "olga", password: "correct horse", networkName: "office" };
  const from = (address: string, token: string) =>
    client.call("POST", "/api/v1/setup", { ...body, setupToken: token }, { "x-forwarded-for": address });

  const guesses = [];
  for (let guess = 0; guess < 30; guess += 1) guesses.push(await from("203.0.113.9", `guess ${guess}`));
  const blocked = await from("203.0.113.9", setupToken);
  const owner = await from("198.51.100.7", setupToken);
  await server.dispose();

  expect(guesses.at(-1)?.body.code).toBe("rate_limited");
  expect(blocked.body.code).toBe("rate_limited");
  expect(owner.status).toBe(201);
});

test("audit events are forgotten after the days that are set, not before", async () => {
  const server = await createTestApp();
  await setUp(server.url);
  const { db, sql, dispose } = server.database.connect();
  const count = async () => (await sql`select count(*)::int as events from audit_events`)[0]?.["events"];
  const before = await count();

  await prune(db, { nowMs: Date.now() + 364 * 86_400_000, auditDays: 365, trafficKeep: TRAFFIC_KEEP });
  const kept = await count();
  await prune(db, { nowMs: Date.now() + 366 * 86_400_000, auditDays: 365, trafficKeep: TRAFFIC_KEEP });
  const left = await count();
  await dispose();
  await server.dispose();

  expect(before).toBeGreaterThan(0);
  expect(kept).toBe(before);
  expect(left).toBe(0);
});

test("a node that floods the server with WebSocket pings is cut off; a few pings between messages are answered", async () => {
  const server = await createTestApp();
  const { owner, network } = await setUp(server.url);
  const agent = await connectAgent(server.url, { joinKey: (await makeKey(owner, network.id)).key });
  let pongs = 0;
  agent.socket.on("pong", () => (pongs += 1));

  for (let ping = 0; ping < 60; ping += 1) agent.socket.ping();
  await eventually("an answer to each ping", () => pongs === 60 || undefined);
  agent.send({ kind: "ping", token: 1n });
  await agent.next("pong");
  for (let ping = 0; ping < 60; ping += 1) agent.socket.ping();
  await eventually("an answer to each further ping", () => pongs === 120 || undefined);
  const wasOpen = !agent.isClosed();
  for (let ping = 0; ping < 1_000; ping += 1) agent.socket.ping();
  await eventually("the end of the line", () => agent.isClosed() || undefined);
  await server.dispose();

  expect(wasOpen).toBe(true);
  expect(pongs).toBeLessThanOrEqual(120 + 64);
});

test("a node that changes its WireGuard key to one in use is told so, and is not asked to come again as under load", async () => {
  const server = await createTestApp();
  const { owner, network } = await setUp(server.url);
  const joinKey = (await makeKey(owner, network.id)).key;
  const first = await connectAgent(server.url, { joinKey });
  const second = await connectAgent(server.url, { joinKey });
  second.cut();

  const copied = { ...second.identity, publicKey: first.identity.publicKey };
  const back = await connectAgent(server.url, { identity: copied });
  const bye = await back.next("bye");
  await server.dispose();

  expect(bye).toMatchObject({ reason: "unauthorised" });
  expect(bye.message).toContain("another node has this WireGuard key");
});
