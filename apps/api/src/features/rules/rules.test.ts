import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent } from "../../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let rules: string;
let network: Json;
let made = 0;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner } = await setUp(server.url));
});
afterAll(() => server.dispose());

/** A network of its own, without rules. */
async function emptyNetwork(): Promise<void> {
  made += 1;
  network = (await owner.post("/api/v1/networks", { name: `n${made}` })).body;
  rules = `/api/v1/networks/${network.id}/rules`;
  for (const { id } of (await owner.get(rules)).body.items) await owner.call("DELETE", `/api/v1/rules/${id}`);
}

test("rules are listed and paged in the order in which nodes ask them", async () => {
  await emptyNetwork();
  for (const [name, position] of [["c"], ["d"], ["b", "first"], ["a", "first"]]) {
    await owner.post(rules, { kind: "all-to-all", protocol: "tcp", name, ...(position && { position }) });
  }

  const whole = (await owner.get(rules)).body;
  const paged: string[] = [];
  for (let cursor = ""; ;) {
    const { items, nextCursor } = (await owner.get(`${rules}?limit=1${cursor}`)).body;
    paged.push(...items.map(({ name }: Json) => name));
    if (nextCursor === null) break;
    cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
  }

  expect(whole.items.map(({ name }: Json) => name)).toEqual(["a", "b", "c", "d"]);
  expect(paged).toEqual(["a", "b", "c", "d"]);
});

test("a rule that is off does not stand in the way of the same rule that is on", async () => {
  await emptyNetwork();
  const off = await owner.post(rules, { kind: "all-to-all", state: "off" });

  const on = await owner.post(rules, { kind: "all-to-all" });
  const again = await owner.post(rules, { kind: "all-to-all" });

  expect([off.status, on.status, again.status]).toEqual([201, 201, 409]);
  expect(again.body.detail).toContain(on.body.id);
});

test("a rule is turned off and on, and nodes follow", async () => {
  await emptyNetwork();
  const rule = (await owner.post(rules, { kind: "all-to-all" })).body;
  const { key } = await makeKey(owner, network.id);
  const agent = await connectAgent(server.url, { joinKey: key });
  await agent.until(({ filter }) => filter.length === 1);

  const off = await owner.call("PATCH", `/api/v1/rules/${rule.id}`, { state: "off" });
  await agent.until(({ filter }) => filter.length === 0);
  const on = await owner.call("PATCH", `/api/v1/rules/${rule.id}`, { state: "on" });
  const { filter } = await agent.until((map) => map.filter.length === 1);

  expect(off.body).toEqual({ ...rule, state: "off" });
  expect(on.body).toEqual(rule);
  expect(filter.map(({ id }) => id)).toEqual([rule.number]);
  agent.leave();
});

test("a new name and description leave the rest of the rule alone", async () => {
  await emptyNetwork();
  const rule = (await owner.post(rules, { kind: "all-to-all", protocol: "udp", name: "old" })).body;

  const answer = await owner.call("PATCH", `/api/v1/rules/${rule.id}`, { name: "new", description: "why" });

  expect(answer.body).toEqual({ ...rule, name: "new", description: "why" });
  expect((await owner.get(rules)).body.items).toEqual([answer.body]);
});

test("turning on a rule that says what another one says already is refused with its id", async () => {
  await emptyNetwork();
  const off = (await owner.post(rules, { kind: "all-to-all", state: "off" })).body;
  const on = (await owner.post(rules, { kind: "all-to-all" })).body;

  const answer = await owner.call("PATCH", `/api/v1/rules/${off.id}`, { state: "on" });

  expect([answer.status, answer.body.code]).toEqual([409, "rule_exists"]);
  expect(answer.body.detail).toContain(on.id);
});

test("changing a rule needs the scope for it, and the rule", async () => {
  await emptyNetwork();
  const rule = (await owner.post(rules, { kind: "all-to-all" })).body;
  const { token } = (await owner.post("/api/v1/tokens", { name: "reader", scopes: ["policies:read"] })).body;
  const reader = createRestClient(server.url, { token });

  const forbidden = await reader.call("PATCH", `/api/v1/rules/${rule.id}`, { state: "off" });
  await owner.call("DELETE", `/api/v1/rules/${rule.id}`);
  const gone = await owner.call("PATCH", `/api/v1/rules/${rule.id}`, { state: "off" });

  expect([forbidden.status, gone.status]).toEqual([403, 404]);
});
