import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent } from "../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let lagMs = 0;

beforeAll(async () => {
  server = await createTestApp({ lagMs: () => lagMs });
  ({ owner, network } = await setUp(server.url));
});
afterAll(() => server.dispose());

test("SC-7 API-45 under load nodes are sent away with a time to come back; people are served, and nodes that are in stay", async () => {
  const joinKey = (await makeKey(owner, network.id)).key;
  const before = await connectAgent(server.url, { joinKey });
  lagMs = 150;

  const answers = await Promise.all(Array.from({ length: 60 }, knock));
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

/** Opens an agent's connection: 101 when the server takes it, else its refusal. */
function knock(): Promise<{ readonly status: number | undefined; readonly retryAfter: string | undefined }> {
  const socket = new WebSocket(`${server.url.replace(/^http/, "ws")}/agent/v1?nonce=none`);
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
