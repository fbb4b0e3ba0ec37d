import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../testing/simulated-agent.ts";
import { prune } from "./prune.ts";

const DAY_MS = 86_400_000;

test("CP-60 AP-30 every change of who takes part is in the audit log with its actor, and members of a deleted network are out for good", async () => {
  let aheadMs = 0;
  const server = await createTestApp({ clock: { nowMs: () => Date.now() + aheadMs } });
  const { owner, network, user } = await setUp(server.url);
  await watchStates(server);
  const { key } = await makeKey(owner, network.id, { approval: "required" });
  const agents = await joinAll(server, key, 8);
  const ids = await Promise.all(agents.map(async (agent) => (await agent.next("welcome")).peerId));
  const act = (at: number, verb: string, body?: object) => owner.post(`/api/v1/peers/${ids[at]}/${verb}`, body);
  for (const at of [0, 1, 2, 3, 4, 5, 6]) await act(at, "approve");
  await act(7, "reject");
  await act(0, "disable");
  await act(0, "enable");
  await act(1, "expire");
  await owner.call("PATCH", `/api/v1/peers/${ids[1]}`, { expiresAt: null });
  await owner.call("PATCH", `/api/v1/peers/${ids[2]}`, { expiresAt: new Date(Date.now() + DAY_MS).toISOString() });
  await owner.call("DELETE", `/api/v1/peers/${ids[3]}`);
  await agents[4]?.until(() => true);
  agents[4]?.send({ kind: "leave" });
  await eventually("the one that left", async () => (await statusOf(owner, ids[4])) === 404 || undefined);
  aheadMs += 2 * DAY_MS;
  const later = await server.restart();
  const again = createRestClient(later.url, { cookie: owner.cookie() ?? "" });
  await eventually(
    "the end of a membership",
    async () => (await again.get(`/api/v1/peers/${ids[2]}`)).body.state === "expired" || undefined,
  );
  const changes = await changesOfStates(later);
  const { items } = (await again.get("/api/v1/audit-events?limit=500")).body;
  const deleted = await again.call("DELETE", `/api/v1/networks/${network.id}`, undefined, { "if-match": "*" });

  expect(changes.length).toBeGreaterThanOrEqual(13);
  for (const { peer, before, after } of changes) {
    const named = items.filter(({ objectId, action }: Json) => objectId === peer && action.startsWith("peers."));
    expect({ peer, before, after, named: named.length > 0 }).toMatchObject({ named: true });
  }
  const perPeer = (id: string | undefined) => items.filter(({ objectId }: Json) => objectId === id).length;
  // One event for each change of its state, one for joining, and one for the moment that was set for the end.
  expect(ids.map(perPeer)).toEqual(ids.map((id, at) => statesOf(changes, id) + (at === 2 ? 2 : 1)));
  const actors = new Set(items.map(({ actor }: Json) => `${actor.kind} ${actor.id}`));
  expect(actors).toContain(`user ${user.id}`);
  expect(actors).toContain(`node ${ids[4]}`);
  expect(
    items.filter(({ actor }: Json) => actor.kind === "server").map(({ action, objectId }: Json) => [action, objectId]),
  ).toEqual([["peers.expire", ids[2]]]);
  expect(deleted.status).toBe(204);
  for (const { identity } of agents) {
    const back = await connectAgent(later.url, { identity });
    expect(back.frames.find(({ kind }) => kind === "bye")).toMatchObject({ kind: "bye" });
  }
  await later.dispose();
}, 180_000);

test("CP-61 restarts and everything that runs by the clock switch nothing off: what people set up is the same two months later", async () => {
  let aheadMs = 0;
  let server = await createTestApp({ clock: { nowMs: () => Date.now() + aheadMs } });
  const { owner, network } = await setUp(server.url);
  const { key } = await makeKey(owner, network.id, { expiresInSeconds: 31_536_000 });
  const agent = await connectAgent(server.url, { joinKey: key });
  const { peerId } = await agent.next("welcome");
  const inNetwork = `/api/v1/networks/${network.id}`;
  const made = [
    await owner.post(`${inNetwork}/groups`, { name: "staff" }),
    await owner.post(`${inNetwork}/rules`, { protocol: "tcp", ports: [{ low: 22, high: 22 }] }),
    await owner.post(`${inNetwork}/rules`, { state: "off" }),
    await owner.post(`/api/v1/peers/${peerId}/routes`, { prefix: "192.168.7.0/24" }),
    await owner.post("/api/v1/service-accounts", { login: "robot", role: "viewer" }),
    await owner.post("/api/v1/webhooks", { name: "chat", url: "https://hooks.example/weft" }),
  ];
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
  agent.leave();
  await pause(500);
  const before = await settingsOf(server);

  for (let month = 0; month < 2; month += 1) {
    aheadMs += 30 * DAY_MS;
    server = await server.restart();
    // Everything that runs every ten seconds has run.
    await pause(11_000);
    await prune(server.app.deps.database.db, { nowMs: Date.now() + aheadMs, ...readConfig({}) });
  }

  expect(before["rules"]).toHaveLength(3);
  expect(Object.keys(before).length).toBeGreaterThan(10);
  expect(await settingsOf(server)).toEqual(before);
  await server.dispose();
}, 180_000);

async function joinAll(server: TestApp, joinKey: string, count: number): Promise<SimulatedAgent[]> {
  return Promise.all(Array.from({ length: count }, () => connectAgent(server.url, { joinKey })));
}

async function statusOf(owner: RestClient, id: string | undefined): Promise<number> {
  return (await owner.get(`/api/v1/peers/${id}`)).status;
}

type StateChange = { readonly peer: string; readonly before: string; readonly after: string | null };

/** The database itself notes whenever a member's part in its network changes, whoever does it. */
async function watchStates(server: TestApp): Promise<void> {
  const { sql, dispose } = server.database.connect();
  await sql.unsafe(`
    create table watched_states (at bigserial, peer text, before text, after text);
    create function watch_state() returns trigger language plpgsql as $$ begin
      insert into watched_states (peer, before, after) values (old.id, old.state, case when tg_op = 'DELETE' then null else new.state end);
      return null;
    end $$;
    create trigger watch_update after update on peers for each row when (old.state <> new.state) execute function watch_state();
    create trigger watch_delete after delete on peers for each row execute function watch_state();
  `);
  await dispose();
}

async function changesOfStates(server: TestApp): Promise<readonly StateChange[]> {
  const { sql, dispose } = server.database.connect();
  const rows = await sql<StateChange[]>`select peer, before, after from watched_states order by at`;
  await dispose();
  return rows;
}

function statesOf(changes: readonly StateChange[], id: string | undefined): number {
  return changes.filter(({ peer }) => peer === id).length;
}

/** All rows of all tables but those of history and of what runs. */
async function settingsOf(server: TestApp): Promise<Readonly<Record<string, unknown>>> {
  const { sql, dispose } = server.database.connect();
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`;
  const settings: Record<string, unknown> = {};
  for (const { name } of tables) {
    if (RUNNING.some((part) => name.includes(part))) continue;
    settings[name] = await sql.unsafe(`select * from "${name}" t order by t::text`);
  }
  await dispose();
  return settings;
}

/** Sessions end by themselves; the others are history. */
const RUNNING = [
  "sessions",
  "audit",
  "deliver",
  "traffic",
  "changes",
  "idempot",
  "released",
  "backups",
  "jobs",
  "migrations",
];
