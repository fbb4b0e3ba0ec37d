import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import fc from "fast-check";
import { enrolmentKeyIds, networkIds, peerIds, ruleIds, tokenIds, userIds, webhookIds } from "@weft/protocol";
import { operations } from "../registry/operations.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { shapeOf } from "./query-values.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
/** Stands still, so that many rows are of the same moment. */
const nowMs = Date.now();

beforeAll(async () => {
  server = await createTestApp({ clock: { nowMs: () => nowMs } });
  ({ owner, network } = await setUp(server.url));
});
afterAll(() => server.dispose());

const lists = operations.filter(({ contract }) => "nextCursor" in shapeOf(contract.output));

test("F-F2 API-20 API-21 every operation that answers with pages is declared as a list", () => {
  expect(lists.length).toBeGreaterThan(4);
  for (const { name, contract } of lists) {
    expect(contract.list, name).toBeDefined();
    const fields = Object.keys(shapeOf(contract.input));
    const wanted = ["limit", "cursor", "count", "sort", ...Object.keys(contract.list?.filters ?? {})];
    expect(fields, name).toEqual(expect.arrayContaining(wanted));
    expect(contract.list?.orders.length, name).toBeGreaterThan(1);
  }
});

describe.each(lists)("$name", ({ contract }) => {
  const path = () => `/api/v1${contract.rest.path.replace(/\{(\w+)\}/g, (_whole, name: string) => paramOf(name))}`;

  test.each([
    "sort=colour",
    "sort=-",
    "sort=name,name",
    "colour=red",
    "limit=0",
    "limit=501",
    "limit=many",
    "count=perhaps",
    "cursor=AAAA",
  ])("API-20 API-21 refuses %s with 400", async (query) => {
    const answer = await owner.get(`${path()}?${query}`);

    // Whose list is unknown is told of that when all else is well-formed.
    if (answer.body.code === "not_found" && query.startsWith("cursor")) return;
    expect(answer.status).toBe(400);
    expect(["invalid_input", "cursor_invalid"]).toContain(answer.body.code);
  });

  test("F-A19 API-21 API-22 takes every order it offers, and counts with the filter applied", async () => {
    for (const sort of contract.list?.orders ?? []) {
      const answer = await owner.get(`${path()}?sort=${encodeURIComponent(sort)}&count=true&limit=500`);
      if (answer.status === 404) return;
      expect(answer.status).toBe(200);
      expect(answer.body.total).toBe(answer.body.items.length);
    }
    if (contract.list?.search !== undefined) {
      const nothing = await owner.get(`${path()}?q=${encodeURIComponent("%_no such text")}&count=true`);
      expect(nothing.body).toMatchObject({ items: [], total: 0, nextCursor: null });
    }
  });
});

test("API-20 pages show every row that stays exactly once while rows come and go, also rows of one moment", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("-createdAt", "createdAt", "expiresAt", "-expiresAt"),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 0, max: 11 }),
      async (sort, limit, removedAt) => {
        const made = await owner.post("/api/v1/networks", { name: `pages ${randomBytes(6).toString("hex")}` });
        const keys: string[] = [];
        for (let index = 0; index < 12; index += 1) {
          keys.push((await makeKey(owner, made.body.id, { expiresInSeconds: 600 + (index % 3) })).id);
        }
        const seen: string[] = [];
        let cursor: string | null = null;
        let pages = 0;
        do {
          const place: string = cursor === null ? "" : `&cursor=${cursor}`;
          const { body } = await owner.get(
            `/api/v1/networks/${made.body.id}/enrolment-keys?sort=${sort}&limit=${limit}${place}`,
          );
          seen.push(...body.items.map(({ id }: Json) => id));
          cursor = body.nextCursor;
          pages += 1;
          await makeKey(owner, made.body.id, { expiresInSeconds: 601 });
          if (pages === 1) await owner.call("DELETE", `/api/v1/enrolment-keys/${keys[removedAt]}`);
        } while (cursor !== null && pages < 40);

        const stayed = keys.filter((_key, index) => index !== removedAt);
        for (const key of stayed) expect(seen.filter((id) => id === key)).toHaveLength(1);
        expect(new Set(seen).size).toBe(seen.length);
      },
    ),
    { numRuns: 6 },
  );
}, 120_000);

test("API-20 a cursor is refused when a character of it changed, and with another order, filter or network", async () => {
  const other = await owner.post("/api/v1/networks", { name: "other" });
  for (let index = 0; index < 3; index += 1) await makeKey(owner, network.id);
  const list = `/api/v1/networks/${network.id}/enrolment-keys?limit=1`;
  const { nextCursor } = (await owner.get(list)).body;

  const good = await owner.get(`${list}&cursor=${nextCursor}`);
  const answers = await Promise.all([
    owner.get(`${list}&sort=createdAt&cursor=${nextCursor}`),
    owner.get(`${list}&q=weft&cursor=${nextCursor}`),
    owner.get(`${list}&createdBy=${userIds.make(randomBytes)}&cursor=${nextCursor}`),
    owner.get(`/api/v1/networks/${other.body.id}/enrolment-keys?limit=1&cursor=${nextCursor}`),
    owner.get(`${list}&cursor=${nextCursor.slice(0, 30)}${nextCursor[30] === "A" ? "B" : "A"}${nextCursor.slice(31)}`),
  ]);

  expect(good.status).toBe(200);
  for (const answer of answers) expect(answer.body.code).toBe("cursor_invalid");
});

test("API-21 filters keep what fits, alone and together", async () => {
  const made = await owner.post("/api/v1/networks", { name: "Filtered" });
  const byName = await owner.get("/api/v1/networks?name=filtered&count=true");
  const byAction = await owner.get(`/api/v1/audit-events?action=networks.create&objectId=${made.body.id}&count=true`);
  const past = await owner.get(`/api/v1/audit-events?until=${new Date(nowMs).toISOString()}&count=true`);

  expect(byName.body).toMatchObject({ total: 1, items: [{ id: made.body.id }] });
  expect(byAction.body).toMatchObject({ total: 1, items: [{ action: "networks.create" }] });
  expect(past.body.total).toBe(0);
});

test("API-21 people, service accounts, groups, routes, invites, sessions and providers are filtered, searched and sorted alike", async () => {
  for (const login of ["robot-b", "robot-a"]) await owner.post("/api/v1/service-accounts", { login, role: "viewer" });
  await owner.post("/api/v1/invites", { role: "operator", login: "wanted" });
  await owner.post(`/api/v1/networks/${network.id}/groups`, { name: "printers" });
  const robots = await owner.get("/api/v1/service-accounts?q=robot&role=viewer&sort=-login&count=true");
  const owners = await owner.get("/api/v1/users?role=owner&count=true");
  const invites = await owner.get("/api/v1/invites?role=operator&q=WANT&sort=createdAt&count=true");
  const groups = await owner.get(`/api/v1/networks/${network.id}/groups?q=print&sort=-createdAt&count=true`);
  const nobody = await owner.get(`/api/v1/sessions?userId=${userIds.make(randomBytes)}&count=true`);

  expect(robots.body).toMatchObject({ total: 2, items: [{ login: "robot-b" }, { login: "robot-a" }] });
  expect(owners.body).toMatchObject({ total: 1, items: [{ login: "olga" }] });
  expect(invites.body).toMatchObject({ total: 1, items: [{ login: "wanted" }] });
  expect(groups.body).toMatchObject({ total: 1, items: [{ name: "printers" }] });
  expect(nobody.body).toMatchObject({ total: 0, items: [] });
});

test("API-2 a token and an enrolment key are shown one by one as their lists show them, without their secret", async () => {
  const token = (await owner.post("/api/v1/tokens", { name: "shown", scopes: ["peers:read"] })).body;
  const key = await makeKey(owner, network.id);

  const shown = (await owner.get(`/api/v1/tokens/${token.id}`)).body;
  const listed = (await owner.get("/api/v1/tokens?q=shown")).body.items[0];
  const shownKey = (await owner.get(`/api/v1/enrolment-keys/${key.id}`)).body;

  expect(shown).toEqual(listed);
  expect(shown).not.toHaveProperty("token");
  expect(shownKey).toMatchObject({ id: key.id, networkId: network.id });
  expect(JSON.stringify(shownKey)).not.toContain(key.key);
  const strange = [
    await owner.get(`/api/v1/tokens/${tokenIds.make(randomBytes)}`),
    await owner.get(`/api/v1/enrolment-keys/${enrolmentKeyIds.make(randomBytes)}`),
  ];
  expect(strange.map(({ status }) => status)).toEqual([404, 404]);
});

test("API-22 a total without count=true is not sent", async () => {
  expect(
    (await createRestClient(server.url, { cookie: owner.cookie() ?? "" }).get("/api/v1/networks")).body,
  ).not.toHaveProperty("total");
});

function paramOf(name: string): string {
  if (name === "networkId") return network.id;
  return PARAMS[name] ?? "missing";
}

const PARAMS: Readonly<Record<string, string>> = {
  networkId: networkIds.make(randomBytes),
  peerId: peerIds.make(randomBytes),
  ruleId: ruleIds.make(randomBytes),
  tokenId: tokenIds.make(randomBytes),
  enrolmentKeyId: enrolmentKeyIds.make(randomBytes),
  webhookId: webhookIds.make(randomBytes),
};
