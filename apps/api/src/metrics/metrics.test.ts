import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";
import { listenForMetrics } from "./metrics-listener.ts";
import type { MetricsListener } from "./metrics-listener.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let listener: MetricsListener;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner, network } = await setUp(server.url));
  const source = { text: server.app.metrics, onError: () => undefined };
  listener = await listenForMetrics({ host: "127.0.0.1", port: 0 }, source);
});
afterAll(async () => {
  await listener.dispose();
  await server.dispose();
});

const scrape = async () => (await fetch(`http://127.0.0.1:${listener.port}/metrics`)).text();

test("F-E4 peers, streams and answers are told, and follow what happens", async () => {
  const agent = await connectAgent(server.url, { joinKey: (await makeKey(owner, network.id)).key });
  await agent.next("welcome");
  await owner.get("/api/v1/networks");

  const text = await eventually("the stream in the metrics", async () => {
    const found = await scrape();
    return found.includes('presence="online"} 1') ? found : undefined;
  });

  expect(text).toContain(`weft_peers{network="office",network_id="${network.id}",presence="online"} 1`);
  expect(text).toContain(`weft_agent_streams{network="office",network_id="${network.id}"} 1`);
  expect(text).toMatch(/weft_http_answers_total\{route="GET \/api\/v1\/networks",status="200"\} [1-9]/);
  expect(text).toMatch(/weft_http_answer_seconds_bucket\{le="\+Inf"\} [1-9]/);
  expect(text).toContain("weft_server_database_up 1");
  expect(text).toMatch(/weft_server_statements_total\{kind="write"\} [1-9]/);
  agent.leave();
});

test("every line is a comment or a sample that Prometheus can read", async () => {
  const lines = (await scrape()).trimEnd().split("\n");

  expect(lines.length).toBeGreaterThan(20);
  for (const line of lines) {
    expect(line).toMatch(
      /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="(\\.|[^"\\])*"(,[a-z_]+="(\\.|[^"\\])*")*\})? [-+0-9.e]+)$/,
    );
  }
});

test("routes that nobody made give no series of their own", async () => {
  for (let index = 0; index < 20; index += 1) await owner.get(`/api/v1/nowhere-${index}`);

  expect(await scrape()).not.toContain("nowhere-");
});

test("SEC-13 metrics are on no public listener, and only where an operator asked for them", async () => {
  expect((await fetch(`${server.url}/metrics`)).headers.get("content-type")).not.toMatch(/version=0\.0\.4/);
  expect(readConfig({}).metricsListen).toBeUndefined();
  expect(readConfig({ WEFT_METRICS_LISTEN: "7402" }).metricsListen).toEqual({ host: "127.0.0.1", port: 7402 });
  expect(readConfig({ WEFT_METRICS_LISTEN: "10.0.0.1:7402" }).metricsListen).toEqual({ host: "10.0.0.1", port: 7402 });
  expect(() => readConfig({ WEFT_METRICS_LISTEN: "often" })).toThrow(/WEFT_METRICS_LISTEN: expected host:port/);
});

test("SEC-13 a page that rebinds its name to loopback reads nothing", async () => {
  const status = await new Promise((done, fail) => {
    const asked = request({
      port: listener.port,
      host: "127.0.0.1",
      path: "/metrics",
      headers: { host: "evil.example" },
    });
    asked.once("response", (response) => done(response.statusCode)).once("error", fail);
    asked.end();
  });

  expect(status).toBe(403);
});

test("SEC-60 a network's name cannot break the text", async () => {
  const { sql, dispose } = server.database.connect();
  await sql`update networks set name = ${'a"b\\c\nd'} where id = ${network.id}`;
  await dispose();
  const restarted = await server.restart();
  const again = await listenForMetrics(
    { host: "127.0.0.1", port: 0 },
    { text: restarted.app.metrics, onError: () => undefined },
  );

  const text = await eventually("the network in the metrics", async () => {
    const found = await (await fetch(`http://127.0.0.1:${again.port}/metrics`)).text();
    return found.includes("weft_agent_streams") ? found : undefined;
  });
  await again.dispose();
  server = restarted;

  expect(text).toContain(String.raw`weft_agent_streams{network="a\"b\\c\nd"`);
});
