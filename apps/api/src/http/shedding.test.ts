import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let lagMs = 0;

beforeAll(async () => {
  server = await createTestApp({ lagMs: () => lagMs });
  ({ owner, network } = await setUp(server.url));
});
afterAll(() => server.dispose());

test("CP-46 SC-7 API-45 under load nodes are sent away with a time to come back; people are served, and nodes that are in stay", async () => {
  const joinKey = (await makeKey(owner, network.id)).key;
  const before = await connectAgent(server.url, { joinKey });
  lagMs = 150;

  const answers = await Promise.all(Array.from({ length: 60 }, () => knock()));
  const people = await owner.get("/api/v1/networks");
  before.send({ kind: "ping", token: 7n });
  const pong = await before.next("pong");
  lagMs = 0;
  const after = await connectAgent(server.url, { joinKey });

  const waits = answers.filter(({ status }) => status === 503).map(({ retryAfter }) => Number(retryAfter));
  expect(waits.length).toBeGreaterThan(30);
  for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(1);
  expect(new Set(waits).size).toBeGreaterThan(1);
  expect(people.status).toBe(200);
  expect(pong.token).toBe(7n);
  expect((await after.next("welcome")).peerId).toBeTruthy();
  before.cut();
  after.cut();
});

test("connections that were not admitted yet are limited, for each address and so that nodes inside stay; room comes back", async () => {
  const small = await createTestApp({ strangersMax: { perSubject: 3, total: 100 } });
  const setup = await setUp(small.url);
  const joinKey = (await makeKey(setup.owner, setup.network.id)).key;
  const inside: SimulatedAgent[] = [];
  for (const hostname of ["a", "b", "c", "d"]) inside.push(await connectAgent(small.url, { joinKey, hostname }));
  const strangers = await Promise.all(Array.from({ length: 3 }, () => linger(small.url)));

  expect(await knock(small.url)).toEqual({ status: 503, retryAfter: "10" });
  inside[0]?.send({ kind: "ping", token: 9n });
  expect(await inside[0]?.next("pong")).toMatchObject({ token: 9n });
  for (const stranger of strangers) stranger.terminate();
  await eventually("room again", async () => ((await knock(small.url)).status === 101 ? true : undefined));

  for (const agent of inside) agent.cut();
  await small.dispose();
});

/** Opens a connection that never says who it is. */
function linger(url: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/agent/v1?nonce=${"A".repeat(43)}`);
  return new Promise((done, fail) => {
    socket.on("error", fail);
    socket.on("message", () => done(socket));
  });
}

/** Opens an agent's connection: 101 when the server takes it, else its refusal. */
function knock(
  url = server.url,
): Promise<{ readonly status: number | undefined; readonly retryAfter: string | undefined }> {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/agent/v1?nonce=none`);
  return new Promise((done, fail) => {
    socket.on("error", fail);
    socket.on("open", () => {
      socket.terminate();
      done({ status: 101, retryAfter: undefined });
    });
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      done({ status: response.statusCode, retryAfter: response.headers["retry-after"] });
    });
  });
}
