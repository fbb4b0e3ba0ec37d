import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { ALL_SCOPES, join, tokenOf } from "../../testing/people.ts";
import { makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent } from "../../testing/simulated-agent.ts";

const DAY_S = 86_400;
let server: TestApp;
let owner: RestClient;
let network: Json;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner, network } = await setUp(server.url));
});
afterAll(() => server.dispose());

const inDays = (days: number) => new Date(Date.now() + days * DAY_S * 1_000).toISOString();
const list = async (query = "", client = owner) => client.get(`/api/v1/expirations?count=true${query}`);

test("UI-20 everything that expires is one list, soonest first, with warnings at 30, 7 and 1 days", async () => {
  const key = await makeKey(owner, network.id);
  const agent = await connectAgent(server.url, { joinKey: key.key });
  const { peerId } = await agent.next("welcome");
  await owner.call("DELETE", `/api/v1/enrolment-keys/${key.id}`);
  await owner.call("PATCH", `/api/v1/peers/${peerId}`, { name: "web-1", expiresAt: inDays(29) });
  await owner.post(`/api/v1/networks/${network.id}/enrolment-keys`, { name: "ci", expiresInSeconds: DAY_S / 2 });
  const token = { name: "backup", scopes: ["peers:read"] };
  await owner.post("/api/v1/tokens", { ...token, expiresInSeconds: 31 * DAY_S });
  await owner.post("/api/v1/tokens", { ...token, name: "endless" });
  await owner.post("/api/v1/invites", { role: "viewer", login: "grace", expiresInSeconds: 6 * DAY_S });

  const { body } = await list();

  expect(body.items.map(({ kind, name, warning }: Json) => [kind, name, warning])).toEqual([
    ["enrolmentKey", "ci", "day"],
    ["invite", "grace", "week"],
    ["peer", "web-1", "month"],
    ["token", "backup", "none"],
  ]);
  expect(body.total).toBe(4);
  expect(body.items[2]).toMatchObject({ id: peerId, networkId: network.id });
  const names = async (query: string) => (await list(query)).body.items.map(({ name }: Json) => name);
  expect(await names("&kind=token")).toEqual(["backup"]);
  expect(await names(`&networkId=${network.id}`)).toEqual(["ci", "web-1"]);
  expect(await names(`&until=${inDays(7)}`)).toEqual(["ci", "grace"]);
  expect((await list("&kind=session")).status).toBe(400);
  // What is over, revoked or used is not about to end.
  await owner.post(`/api/v1/peers/${peerId}/expire`);
  expect(await names("&kind=peer")).toEqual([]);
  agent.leave();
});

test("pages of several kinds with the same moment neither repeat nor lose anything", async () => {
  const other = (await owner.post("/api/v1/networks", { name: "pages" })).body;
  const expiresAt = inDays(3);
  const { key } = await makeKey(owner, other.id);
  const agents = await Promise.all(Array.from({ length: 4 }, () => connectAgent(server.url, { joinKey: key })));
  for (const agent of agents) {
    const { peerId } = await agent.next("welcome");
    await owner.call("PATCH", `/api/v1/peers/${peerId}`, { expiresAt });
  }
  const pages = async (sort: string) => {
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await list(`&limit=2&sort=${sort}&networkId=${other.id}${cursor}`);
      expect(body.total).toBe(5);
      seen.push(...body.items.map(({ id }: Json) => id));
      cursor = body.nextCursor === null ? "" : `&cursor=${encodeURIComponent(body.nextCursor)}`;
    } while (cursor !== "" && seen.length < 20);
    return seen;
  };
  const rising = await pages("expiresAt");
  expect(rising).toHaveLength(5);
  expect(new Set(rising).size).toBe(5);
  expect(await pages("-expiresAt")).toEqual(rising.toReversed());
  for (const agent of agents) agent.leave();
});

test("of each kind only what the caller may list is there", async () => {
  const { browser: viewer } = await join(server, owner, { login: "vera", role: "viewer" });
  const kinds = async (client: RestClient) =>
    new Set((await list("", client)).body.items.map(({ kind }: Json) => kind as string));
  await viewer.post("/api/v1/tokens", { name: "mine", scopes: ["peers:read"], expiresInSeconds: 5 * DAY_S });

  const seen = (await list("", viewer)).body.items;
  expect(seen.filter(({ kind }: Json) => kind === "invite")).toEqual([]);
  expect(seen.filter(({ kind }: Json) => kind === "token").map(({ name }: Json) => name)).toEqual(["mine"]);
  const narrow = await tokenOf(server, { role: "owner", scopes: ["peers:read"] });
  const wide = await tokenOf(server, { role: "owner", scopes: ALL_SCOPES });
  expect(await kinds(narrow.client)).toEqual(new Set(["peer"]));
  expect(await kinds(wide.client)).toEqual(new Set(["peer", "enrolmentKey", "token", "invite"]));
});
