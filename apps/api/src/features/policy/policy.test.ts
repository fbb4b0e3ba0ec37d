import { randomBytes } from "node:crypto";
import { peerIds, ruleIds } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent } from "../../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let policy: string;
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
  policy = `/api/v1/networks/${network.id}/policy`;
}

const put = (body: object, ifMatch = "*") => owner.call("PUT", policy, body, { "if-match": ifMatch });
const group = async (name: string) => (await owner.post(`/api/v1/networks/${network.id}/groups`, { name })).body.id;

async function join(
  groupIds: readonly string[] = [],
): Promise<{ readonly agent: SimulatedAgent; readonly id: string }> {
  const { key } = await makeKey(owner, network.id, { groupIds });
  const agent = await connectAgent(server.url, { joinKey: key });
  const { peerId } = await agent.next("welcome");
  return { agent, id: peerId };
}

const WEB = { protocol: "tcp", ports: [{ low: 443, high: 443 }], direction: "one-way" };

test("API-30 a policy is replaced only with the tag of what its author saw, and only one of two gets through", async () => {
  await emptyNetwork();
  const before = await owner.get(policy);
  const tag = before.headers.get("etag") ?? "";

  const blind = await owner.call("PUT", policy, { rules: [] });
  const [one, two] = await Promise.all([
    put({ rules: [{ name: "one" }] }, tag),
    put({ rules: [{ name: "two" }] }, tag),
  ]);

  expect(before.body).toMatchObject({ version: 0, rules: [], tests: [] });
  expect([blind.status, blind.body.code]).toEqual([428, "version_required"]);
  expect([one.status, two.status].toSorted((left, right) => left - right)).toEqual([200, 412]);
  const after = await owner.get(policy);
  expect(after.body.version).toBe(1);
  expect(after.headers.get("etag")).not.toBe(tag);
});

test("API-9 API-32 a replaced policy is read back as it was answered, keeps its rules' numbers, and has a history", async () => {
  await emptyNetwork();
  const first = await put({
    rules: [
      { name: "a", protocol: "tcp" },
      { name: "b", protocol: "udp" },
    ],
  });
  const [a, b] = first.body.rules;

  const second = await put({
    rules: [
      { id: b.id, name: "b2", protocol: "udp" },
      { id: a.id, name: "a", protocol: "tcp" },
    ],
  });

  expect(second.body.rules.map(({ number }: Json) => number)).toEqual([b.number, a.number]);
  expect((await owner.get(policy)).body).toEqual(second.body);
  const listed = (await owner.get(`${policy}/versions?count=true&limit=1`)).body;
  expect(listed).toMatchObject({ total: 2, items: [{ version: 2, author: "olga", ruleCount: 2 }] });
  const older = (await owner.get(`${policy}/versions?cursor=${encodeURIComponent(listed.nextCursor)}`)).body;
  expect(older.items.map(({ version }: Json) => version)).toEqual([1]);
  expect((await owner.get(`${policy}/versions/1`)).body.rules).toEqual(first.body.rules);

  const restored = await owner.call("POST", `${policy}/restore`, { version: 1 }, { "if-match": "*" });
  expect(restored.body.version).toBe(3);
  expect(restored.body.rules.map(({ id, name }: Json) => [id, name])).toEqual([
    [a.id, "a"],
    [b.id, "b"],
  ]);
  expect((await owner.get(`${policy}/versions/9`)).status).toBe(404);
});

test("F-B5 a policy that makes no sense is refused with the place and the reason, and nothing changes", async () => {
  await emptyNetwork();
  const kept = (await put({ rules: [{ name: "kept" }] })).body;
  await emptyNetwork();
  const nobody = kept.rules[0].id.replace("pol_", "grp_");
  const wrong: [object, string][] = [
    [{ ports: [{ low: 1, high: 2 }] }, "rules/0/ports"],
    [{ protocol: "tcp", ports: [{ low: 9, high: 2 }] }, "rules/0/ports"],
    [{ source: { kind: "group", id: nobody } }, "rules/0/source"],
    [{ id: kept.rules[0].id }, "rules/0/id"],
  ];

  for (const [rule, field] of wrong) {
    const answer = await put({ rules: [rule] });
    expect([answer.status, answer.body.code]).toEqual([422, "rule_fault"]);
    expect(answer.body.detail).toContain(field);
  }
  expect((await owner.get(policy)).body).toMatchObject({ version: 0, rules: [] });
});

test("F-B6 tests beside the policy refuse every change that breaks them, also of a single rule, with the reason", async () => {
  await emptyNetwork();
  const [clients, servers] = [await group("clients"), await group("servers")];
  const source = { kind: "group", id: clients };
  const destination = { kind: "group", id: servers };
  const tests = [
    { name: "web is open", from: source, to: destination, protocol: "tcp", port: 443, expect: "allow" },
    { name: "ssh is closed", from: source, to: destination, protocol: "tcp", port: 22, expect: "deny" },
    { name: "servers do not begin", from: destination, to: source, protocol: "tcp", port: 443, expect: "deny" },
  ];
  const good = await put({ rules: [{ ...WEB, source, destination }], tests });
  expect(good.status).toBe(200);
  const [rule] = good.body.rules;

  const broken = [
    await put({ rules: [], tests }),
    await owner.call("PATCH", `/api/v1/rules/${rule.id}`, { direction: "both-ways" }),
    await owner.call("PATCH", `/api/v1/rules/${rule.id}`, { ports: [{ low: 20, high: 500 }] }),
    await owner.call("DELETE", `/api/v1/rules/${rule.id}`),
    await owner.post(`/api/v1/networks/${network.id}/rules`, { protocol: "tcp" }),
  ];

  expect(broken.map(({ status, body }) => [status, body.code])).toEqual(broken.map(() => [422, "policy_test_failed"]));
  expect(broken[1]?.body.detail).toContain("servers do not begin");
  expect(broken[2]?.body.detail).toContain("ssh is closed");
  expect((await owner.get(policy)).body).toEqual(good.body);
  const results = (await owner.post(`${policy}/test`)).body.tests;
  expect(results.map(({ outcome }: Json) => outcome)).toEqual(["passed", "passed", "passed"]);
  const alone = await owner.post(`/api/v1/networks/${network.id}/rules`, { name: "icmp too", protocol: "icmp" });
  expect(alone.status).toBe(201);
});

test("API-33 what a policy would do is told before it is in force: faults, tests, who gains and who loses", async () => {
  await emptyNetwork();
  const [clients, servers] = [await group("clients"), await group("servers")];
  const [client, host, other] = [await join([clients]), await join([servers]), await join()];
  const source = { kind: "group", id: clients };
  const destination = { kind: "group", id: servers };
  const { id } = (await put({ rules: [{ ...WEB, source, destination }] })).body.rules[0];
  const validate = async (body: object) => (await owner.post(`${policy}/validate`, body)).body;

  const wider = await validate({ rules: [{ ...WEB, id, destination }] });
  const closed = await validate({
    rules: [],
    tests: [{ name: "web", from: source, to: destination, protocol: "tcp", port: 443, expect: "allow" }],
  });
  const faulty = await validate({ rules: [{ icmpCode: 1 }] });

  expect(wider).toMatchObject({ verdict: "fits", lost: { total: 0 } });
  expect(wider.gained).toEqual({ total: 1, pairs: [{ fromPeerId: other.id, toPeerId: host.id }] });
  expect(wider.affectedPeerIds).toEqual(expect.arrayContaining([other.id, host.id]));
  expect(wider.affectedPeerIds).not.toContain(client.id);
  expect(closed).toMatchObject({ verdict: "tests-fail", tests: [{ name: "web", outcome: "failed" }] });
  expect(closed.lost).toEqual({ total: 1, pairs: [{ fromPeerId: client.id, toPeerId: host.id }] });
  expect(faulty).toMatchObject({ verdict: "faulty", fault: { field: "rules/0/icmpCode" } });
  expect((await owner.get(policy)).body.version).toBe(1);
  for (const { agent } of [client, host, other]) agent.leave();
});

test("F-B7 F-G8 it is told what a peer reaches and why, which rule decides, and why one cannot reach another", async () => {
  await emptyNetwork();
  const [clients, servers] = [await group("clients"), await group("servers")];
  const [client, host] = [await join([clients]), await join([servers])];
  const source = { kind: "group", id: clients };
  const [rule] = (await put({ rules: [{ ...WEB, source, destination: { kind: "group", id: servers } }] })).body.rules;
  const ask = async (from: string, to: string, port: number) =>
    (await owner.get(`${policy}/explain?fromPeerId=${from}&toPeerId=${to}&protocol=tcp&port=${port}`)).body;
  const steps = async (from: string, to: string, port: number) => {
    const { body } = await owner.get(`/api/v1/peers/${from}/diagnosis?targetPeerId=${to}&protocol=tcp&port=${port}`);
    return {
      verdict: body.verdict,
      ...Object.fromEntries(body.steps.map(({ step, outcome }: Json) => [step, outcome])),
    };
  };
  const reach = async (id: string) => (await owner.get(`/api/v1/peers/${id}/reachable?count=true`)).body;

  expect(await reach(client.id)).toMatchObject({ total: 1, items: [{ peerId: host.id, rules: [{ id: rule.id }] }] });
  expect(await reach(host.id)).toMatchObject({ total: 0, items: [] });
  expect(await ask(client.id, host.id, 443)).toMatchObject({ verdict: "allow", rule: { id: rule.id } });
  expect(await ask(client.id, host.id, 22)).toMatchObject({ verdict: "deny", rule: null });
  expect(await ask(host.id, client.id, 443)).toMatchObject({ verdict: "deny", rule: null });
  expect(await steps(client.id, host.id, 443)).toMatchObject({
    // Neither node has said where it can be reached.
    verdict: "cannot",
    approval: "good",
    policy: "good",
    path: "bad",
    handshake: "unknown",
  });
  expect(await steps(client.id, host.id, 22)).toMatchObject({ verdict: "cannot", approval: "good", policy: "bad" });

  await owner.post(`/api/v1/peers/${host.id}/disable`);
  expect(await steps(client.id, host.id, 443)).toMatchObject({ verdict: "cannot", approval: "bad" });
  await owner.post(`/api/v1/peers/${host.id}/enable`);
  await owner.post(`/api/v1/peers/${host.id}/expire`);
  expect(await steps(client.id, host.id, 443)).toMatchObject({ verdict: "cannot", expiry: "bad", approval: "good" });
  client.agent.leave();
});

test("an expiry counts from its moment on, also before it was written down", async () => {
  await emptyNetwork();
  const [client, host] = [await join(), await join()];
  await put({ rules: [{}] });
  // As between the moment and the job that enforces it.
  const { sql, dispose } = server.database.connect();
  await sql`update peers set expires_at = now() - interval '1 second' where id = ${host.id}`;
  await dispose();

  const explained = (await owner.get(`${policy}/explain?fromPeerId=${client.id}&toPeerId=${host.id}`)).body;
  const reachable = (await owner.get(`/api/v1/peers/${client.id}/reachable?count=true`)).body;

  expect(explained).toMatchObject({ verdict: "deny", reason: expect.stringContaining("is expired") });
  expect(reachable.total).toBe(0);
  for (const { agent } of [client, host]) agent.leave();
});

test("SEC-55 of the policies of a network the newest are kept; one that went says how many", async () => {
  await emptyNetwork();
  const { sql, dispose } = server.database.connect();
  await sql`insert into policy_versions (network_id, version, document, at)
    select ${String(network.id)}, version, '{"rules": [], "tests": []}', now() from generate_series(1, 500) as version`;
  await dispose();

  const saved = await put({ rules: [{}] });
  const gone = await owner.get(`${policy}/versions/1`);

  expect(saved.body.version).toBe(501);
  expect((await owner.get(`${policy}/versions?count=true&limit=1`)).body.total).toBe(500);
  expect(gone.status).toBe(404);
  expect(gone.body.detail).toContain("500");
  expect((await owner.get(`${policy}/versions/2`)).status).toBe(200);
});

test("SEC-55 API-33 a comparison that would take seconds is refused with its size and the bound", async () => {
  await emptyNetwork();
  const { agent, id } = await join();
  const { sql, dispose } = server.database.connect();
  const ids = Array.from({ length: 250 }, () => peerIds.make(randomBytes));
  const others = ids.map((fresh, place) => ({
    id: fresh,
    name: `many-${place}`,
    host_offset: place + 1_000,
    ipv4: null,
    ipv6: null,
    identity_key: randomBytes(32).toString("base64"),
    public_key: randomBytes(32).toString("base64"),
  }));
  await sql`insert into peers select (jsonb_populate_record(p, other)).*
    from peers p, jsonb_array_elements(${JSON.stringify(others)}::text::jsonb) as other where p.id = ${id}`;
  await dispose();
  const rules = ids.flatMap((peer) =>
    ["tcp", "udp", "sctp", null].map((protocol) => ({ protocol, source: { kind: "peer", id: peer } })),
  );

  const answer = await owner.post(`${policy}/validate`, { rules });

  expect(answer.body).toMatchObject({ status: 422, code: "work_bound" });
  expect(answer.body.detail).toContain("50000000");
  agent.leave();
});

test("SEC-55 single rules make a policy no longer than a document may be", async () => {
  await emptyNetwork();
  const rows = Array.from({ length: 2_000 }, () => ({
    id: ruleIds.make(randomBytes),
    network_id: String(network.id),
    kind: "all-to-all",
    protocol: "sctp",
  }));
  const { sql, dispose } = server.database.connect();
  await sql`insert into rules ${sql(rows)}`;
  await dispose();

  const more = await owner.post(`/api/v1/networks/${network.id}/rules`, { protocol: "tcp" });

  expect(more.body).toMatchObject({ status: 400, code: "invalid_input" });
});

test("API-20 a list of versions reads no document, however long its rules are", async () => {
  await emptyNetwork();
  await put({ rules: [{ name: "one" }, { name: "two" }] });
  server.takeStatements();

  const { body } = await owner.get(`${policy}/versions`);

  expect(body.items).toMatchObject([{ version: 1, author: "olga", ruleCount: 2 }]);
  const reads = server.takeStatements().filter((statement) => statement.includes('from "policy_versions"'));
  expect(reads).toHaveLength(1);
  expect(reads.join()).toContain("jsonb_array_length");
  expect(reads.join()).not.toMatch(/"document"\s*(,|from)/);
});
