import { randomBytes } from "node:crypto";
import { groupIds, inviteIds, tokenIds } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { GROUPS_MAX, INVITES_MAX, TOKENS_MAX } from "./limits.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let user: Json;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner, network, user } = await setUp(server.url));
});
afterAll(() => server.dispose());

const text = () => randomBytes(16).toString("hex");

test("SEC-55 groups of a network, tokens of an account and open invites end at a bound that the answer names", async () => {
  const { sql, dispose } = server.database.connect();
  const userId = String(user.id);
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const groups = Array.from({ length: GROUPS_MAX - 1 }, () => ({
    id: groupIds.make(randomBytes),
    network_id: String(network.id),
    name: text(),
  }));
  const tokens = Array.from({ length: TOKENS_MAX - 1 }, () => ({
    id: tokenIds.make(randomBytes),
    user_id: userId,
    name: text(),
    hash: text(),
    hint: "",
    scopes: ["peers:read"],
  }));
  const invites = Array.from({ length: INVITES_MAX - 1 }, () => ({
    id: inviteIds.make(randomBytes),
    hash: text(),
    role: "viewer",
    expires_at: later,
    created_by: userId,
  }));
  await sql`insert into groups ${sql(groups)}`;
  await sql`insert into tokens ${sql(tokens)}`;
  await sql`insert into invites ${sql(invites)}`;
  await dispose();
  const attempts = {
    groups: () => owner.post(`/api/v1/networks/${network.id}/groups`, { name: text() }),
    tokens: () => owner.post("/api/v1/tokens", { name: text(), scopes: ["peers:read"] }),
    invites: () => owner.post("/api/v1/invites", { role: "viewer" }),
  };
  for (const [what, attempt] of Object.entries(attempts)) {
    // Two that ask for the last place at once: one gets it.
    const answers = await Promise.all([attempt(), attempt()]);
    const refused = answers.filter(({ status }) => status !== 201);
    expect({ what, refused: refused.map(({ status, body }) => [status, body.code]) }).toEqual({
      what,
      refused: [[409, "limit_reached"]],
    });
    expect(refused[0]?.body.detail).toContain(what);
  }
});
