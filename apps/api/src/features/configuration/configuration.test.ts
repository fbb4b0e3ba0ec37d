import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contracts } from "../../registry/contracts.ts";
import type { Scope } from "../../registry/access.ts";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { ALL_SCOPES, tokenOf } from "../../testing/people.ts";
import { makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent } from "../../testing/simulated-agent.ts";
import { NetworkPartSchema } from "./document.ts";

let server: TestApp;
let other: TestApp;
let owner: RestClient;
let stranger: RestClient;

beforeAll(async () => {
  [server, other] = await Promise.all([createTestApp(), createTestApp()]);
  ({ owner } = await setUp(server.url));
  stranger = await emptied(other);
});
afterAll(() => Promise.all([server.dispose(), other.dispose()]));

/** The owner of a server without any network. */
async function emptied(app: TestApp): Promise<RestClient> {
  const made = await setUp(app.url);
  await made.owner.call("DELETE", `/api/v1/networks/${made.network.id}`);
  return made.owner;
}

const exported = async (who: RestClient, format = "yaml"): Promise<string> =>
  (await who.get(`/api/v1/configuration?format=${format}`)).body.content;
const planned = (who: RestClient, content: string, options: object = {}) =>
  who.post("/api/v1/configuration/plan", { content, ...options });

async function applied(who: RestClient, content: string, options: object = {}): Promise<Json> {
  const plan = await planned(who, content, options);
  expect(plan.body.faults).toEqual([]);
  const answer = await who.post("/api/v1/configuration/apply", { content, ...options, tag: plan.body.tag });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

/** A peer with a name, so that a file can speak of it. */
async function join(app: TestApp, who: RestClient, wish: { readonly network: string; readonly name: string }) {
  const networks = (await who.get(`/api/v1/networks?q=${wish.network}`)).body.items;
  const agent = await connectAgent(app.url, { joinKey: (await makeKey(who, networks[0].id)).key });
  const { peerId } = await agent.next("welcome");
  await who.call("PATCH", `/api/v1/peers/${peerId}`, { name: wish.name });
  agent.cut();
}

const EVERYTHING = `weft: 1
networks:
  - name: Lab
    ipv4Range: 10.77.0.0/16
    ipv6Range: null
    approval: required
    membershipSeconds: 86400
    flowKeepHours: 24
    groups:
      - name: db
        description: holds data
      - name: web
    concealProfiles:
      - name: quiet
        preset: light
    policy:
      rules:
        - name: no telnet
          action: deny
          protocol: tcp
          ports:
            - "23"
        - from: group:web
          to: group:db
          direction: one-way
          protocol: tcp
          ports:
            - "443"
            - 5432-5433
        - state: off
          from: peer:router
      tests:
        - name: web reaches db
          from: group:web
          to: group:db
          protocol: tcp
          port: 443
          expect: allow
    routeApprovers:
      - group: db
        prefix: 192.168.0.0/16
    routes:
      - peer: router
        prefix: 172.20.0.0/16
        masquerade: false
        priority: 5
    nameSettings:
      state: on
      domain: lab.weft
      searchDomains: []
      leftAloneGroups:
        - web
    nameservers:
      - name: upstream
        servers:
          - 192.0.2.53:53
        groups:
          - db
          - web
    nameRecords:
      - name: www
        type: AAAA
        value: 2001:db8::1
        ttlSeconds: 60
    enrolmentKeys:
      - name: racks
        usesMax: null
        expiresInSeconds: 86400
        approval: given
        groups:
          - db
webhooks:
  - name: chat
    url: https://hooks.example.org/x
    actions:
      - peers.*
serviceAccounts:
  - login: deploy
    role: operator
  - login: watcher
    networkRoles:
      - network: Lab
        role: viewer
    state: off
`;

describe("F-F5 configuration as a file", () => {
  test("F-F5 what was exported makes an empty server the same, byte for byte, in YAML and in JSON", async () => {
    const first = await planned(owner, EVERYTHING, { absentPeers: "skip" });
    // The peer that a rule names has not joined: that is said, and where.
    expect(first.body).toMatchObject({
      verdict: "faulty",
      faults: [{ path: "Lab/policy", code: "configuration_fault", message: expect.stringContaining("peer router") }],
    });
    const bare = EVERYTHING.replace(/ {8}- state: off\n {10}from: peer:router\n/, "");
    await applied(owner, bare, { absentPeers: "skip" });
    await join(server, owner, { network: "Lab", name: "router" });
    await applied(owner, EVERYTHING);
    const file = await exported(owner);
    const json = await exported(owner, "json");
    expect(await exported(owner)).toBe(file);
    expect((await planned(owner, file, { prune: true })).body).toMatchObject({ verdict: "nothing", changes: [] });
    expect((await planned(owner, EVERYTHING)).body).toMatchObject({ verdict: "nothing", counts: { kept: 1 } });

    const withoutPeer = file.replace(/ {8}- state: off\n {10}from: peer:router\n/, "");
    const made = await applied(stranger, withoutPeer, { absentPeers: "skip" });
    expect(made.counts).toMatchObject({ update: 0, delete: 0, skipped: 1 });
    await join(other, stranger, { network: "Lab", name: "router" });
    await applied(stranger, json);

    expect(await exported(stranger)).toBe(file);
    expect(await exported(stranger, "json")).toBe(json);
    expect(file).not.toContain("_");
  });

  test("F-F5 secrets of what is new are shown once, and stand in no file, plan, audit event or log line", async () => {
    const content = `weft: 1
networks:
  - name: secrets
    enrolmentKeys:
      - name: one
webhooks:
  - name: secrets
    url: https://hooks.example.org/secrets
  - name: chat
    url: https://hooks.example.org/x
    actions: [peers.*]
`;
    const { secrets } = await applied(owner, content);

    expect(secrets).toMatchObject([
      { kind: "enrolmentKeys", network: "secrets", name: "one", secret: expect.any(String) },
      { kind: "webhooks", network: null, name: "secrets", joinLine: null },
    ]);
    const texts = [
      await exported(owner),
      server.logText(),
      JSON.stringify((await owner.get("/api/v1/audit-events?limit=500")).body),
    ];
    for (const { secret } of secrets) for (const text of texts) expect(text).not.toContain(secret);
  });

  test("F-F5 every change writes the audit event of its own operation, and the application one more", async () => {
    const before = (await owner.get("/api/v1/audit-events?limit=1")).body.items[0];
    await applied(owner, "weft: 1\nnetworks:\n  - name: audited\n    groups:\n      - name: g\n");
    const { items } = (await owner.get("/api/v1/audit-events?limit=20")).body;
    const since = items.slice(
      0,
      items.findIndex(({ id }: Json) => id === before.id),
    );

    expect(since.map(({ action }: Json) => action).toReversed()).toEqual([
      "networks.create",
      "groups.create",
      "configuration.apply",
    ]);
    expect(since[0].after).toMatchObject({ counts: { create: 2 } });
  });

  test("F-F5 a plan changes nothing, shows before and after, and says what is dangerous", async () => {
    await applied(
      owner,
      "weft: 1\nnetworks:\n  - name: risky\n    approval: required\n    policy:\n      rules:\n        - action: deny\n          protocol: tcp\n      tests:\n        - {name: t, from: all, to: all, protocol: tcp, port: 1, expect: deny}\n",
    );
    const file = await exported(owner);
    const plan = await planned(
      owner,
      "weft: 1\nnetworks:\n  - name: risky\n    policy:\n      rules:\n        - action: allow\n",
    );

    expect(plan.body).toMatchObject({ verdict: "changes", counts: { update: 2 } });
    expect(plan.body.changes.filter(({ state }: Json) => state === "planned")).toMatchObject([
      {
        kind: "networks",
        name: "risky",
        before: { approval: "required" },
        after: { approval: "automatic" },
        dangers: ["new peers get in by themselves"],
      },
      {
        kind: "policy",
        network: "risky",
        before: { rules: [{ action: "deny" }], tests: [{ name: "t" }] },
        after: { rules: [{ action: "allow" }], tests: [] },
        dangers: [
          "a rule lets everybody begin anything with everybody",
          "1 of the rules that deny go or change",
          "1 of the tests go",
        ],
      },
    ]);
    expect(await exported(owner)).toBe(file);
  });

  test("F-F5 412 when the state, the file or the options are not those of the plan", async () => {
    const content = "weft: 1\nnetworks:\n  - name: moving\n    groups:\n      - name: a\n";
    const { tag } = (await planned(owner, content)).body;
    const apply = (body: object) => owner.post("/api/v1/configuration/apply", { content, tag, ...body });
    const stale = { status: 412, body: { code: "plan_stale", detail: expect.stringContaining("plan again") } };

    expect(await apply({ content: content.replace("name: a", "name: b") })).toMatchObject(stale);
    expect(await apply({ prune: true })).toMatchObject(stale);
    expect(await apply({ tag: "made-up" })).toMatchObject(stale);
    await owner.post("/api/v1/networks", { name: "came between" });
    expect(await apply({})).toMatchObject(stale);
    const fresh = (await planned(owner, content)).body.tag;
    expect(await apply({ tag: fresh })).toMatchObject({ status: 200 });
    // What was applied is there: the same plan is over.
    expect(await apply({ tag: fresh })).toMatchObject(stale);
  });

  test("F-F5 an application happens whole or not at all, and policy tests decide as they do elsewhere", async () => {
    const content = `weft: 1
networks:
  - name: whole
    groups: [{ name: g }]
    policy:
      rules: [{ action: deny }]
      tests: [{ name: wishful, from: group:g, to: group:g, expect: allow }]
`;
    const file = await exported(owner);
    const plan = await planned(owner, content);
    expect(plan.body).toMatchObject({
      verdict: "faulty",
      faults: [{ path: "whole/policy", code: "policy_test_failed" }],
    });

    const answer = await owner.post("/api/v1/configuration/apply", { content, tag: plan.body.tag });
    expect(answer).toMatchObject({ status: 422, body: { code: "configuration_fault" } });
    expect(answer.body.detail).toContain("whole/policy: tests of the policy fail");
    expect(await exported(owner)).toBe(file);
  });

  test("F-F5 nothing is deleted without prune; with it only in lists that the file has", async () => {
    await applied(
      owner,
      "weft: 1\nnetworks:\n  - name: pruned\n    groups: [{ name: old }, { name: used }]\n    nameRecords: [{ name: x, type: A, value: 192.0.2.1 }]\n    policy: { rules: [{ from: 'group:used' }] }\n",
    );
    const content = "weft: 1\nnetworks:\n  - name: pruned\n    groups: [{ name: new }]\n    policy: {}\n";
    const kept = await applied(owner, content);
    expect(kept.counts).toMatchObject({ create: 1, update: 1, delete: 0 });
    expect(kept.counts.kept).toBeGreaterThan(2);

    // Networks that the file does not name would go as well; here only what is inside this one is looked at.
    const plan = await planned(owner, content, { prune: true });
    const groups = plan.body.changes.filter(({ kind, network }: Json) => kind === "groups" && network === "pruned");
    expect(groups).toMatchObject([
      { action: "delete", name: "old", state: "planned" },
      { action: "delete", name: "used", state: "planned" },
    ]);
    expect(plan.body.changes.filter(({ kind }: Json) => kind === "nameRecords")).toEqual([]);
    const networks = plan.body.changes.filter(({ kind }: Json) => kind === "networks");
    expect(networks.length).toBeGreaterThan(2);
    for (const change of networks) expect(change).toMatchObject({ action: "delete", dangers: [expect.any(String)] });
  });

  test("F-F5 whoever may not do one of the changes does none: scopes and roles are those of each operation", async () => {
    const content = "weft: 1\nnetworks:\n  - name: forbidden\n    groups: [{ name: g }]\n";
    const client = async (scopes: readonly Scope[]) => (await tokenOf(server, { role: "owner", scopes })).client;
    const without = ALL_SCOPES.filter((scope) => scope !== "peers:write");
    const poor = await client(without);
    const { tag } = (await planned(poor, content)).body;

    expect(await poor.post("/api/v1/configuration/apply", { content, tag })).toMatchObject({
      status: 403,
      body: { code: "scope_missing", detail: expect.stringContaining("peers:write") },
    });
    expect(await exported(owner)).not.toContain("forbidden");
    const blind = await client(["settings:read", "networks:read", "peers:read"]);
    expect(await blind.get("/api/v1/configuration")).toMatchObject({ status: 403, body: { code: "scope_missing" } });
  });
});

describe("F-F5 hostile files", () => {
  test.each([
    {
      name: "an unknown key",
      content: "weft: 1\nnetworks:\n  - name: a\n    groups: [{ name: g, colour: red }]\n",
      pointer: "/networks/0/groups/0/colour",
      code: "unknown_field",
    },
    { name: "a key that stands twice", content: "weft: 1\nweft: 1\n", pointer: "", code: "unreadable" },
    {
      name: "a key that stands twice in JSON",
      content: '{"weft":1,"networks":[],"networks":[]}',
      pointer: "",
      code: "unreadable",
    },
    {
      name: "a name that stands twice",
      content: "weft: 1\nnetworks: [{ name: a }, { name: A }]\n",
      pointer: "/networks/1",
      code: "repeated",
    },
    { name: "an alias", content: "weft: 1\nnetworks: &a []\nwebhooks: *a\n", pointer: "", code: "alias" },
    {
      name: "deep nesting in brackets",
      content: `weft: 1\nnetworks: ${"[".repeat(100_000)}`,
      pointer: "",
      code: "too_deep",
    },
    {
      name: "deep nesting in a block",
      content: `weft: 1\nnetworks:\n  ${"- ".repeat(100_000)}x`,
      pointer: "",
      code: "too_deep",
    },
    { name: "another format", content: "weft: 2\n", pointer: "/weft", code: "invalid_value" },
    { name: "two documents", content: "weft: 1\n---\nweft: 1\n", pointer: "", code: "documents" },
    { name: "no document", content: "# nothing\n", pointer: "", code: "documents" },
    { name: "half a file", content: "weft: 1\nnetworks: [{ name: 'a\n", pointer: "", code: "unreadable" },
    {
      name: "a name that is a number",
      content: "weft: 1\nnetworks: [{ name: 1 }]\n",
      pointer: "/networks/0/name",
      code: "invalid_type",
    },
    {
      name: "a key of the language",
      content: 'weft: 1\n"__proto__": { networks: [] }\n',
      pointer: "/__proto__",
      code: "unknown_field",
    },
    { name: "a tag", content: "weft: 1\nnetworks: !!js/function 'x'\n", pointer: "/networks", code: "invalid_type" },
  ])("$name is refused, and where it stands is said", async ({ content, pointer, code }) => {
    const { status, body } = await planned(owner, content);

    expect({ status, code: body.code, first: body.errors?.[0] }).toMatchObject({
      status: 400,
      code: "invalid_input",
      first: { pointer, code },
    });
  });

  test("a file that is too long is refused by its length, and so is a list", async () => {
    expect((await planned(owner, `# ${"x".repeat(600_000)}`)).status).toBe(400);
    const groups = Array.from({ length: 1_001 }, (_one, place) => `{name: g${place}}`).join(", ");
    expect((await planned(owner, `weft: 1\nnetworks: [{name: a, groups: [${groups}]}]`)).body.errors).toMatchObject([
      { pointer: "/networks/0/groups", code: "too_big" },
    ]);
  });

  test("aliases that would unfold to a billion items are not unfolded", async () => {
    const levels = Array.from(
      { length: 9 },
      (_one, level) => `l${level + 1}: &l${level + 1} [${Array.from({ length: 9 }, () => `*l${level}`).join(",")}]`,
    );
    const bomb = `weft: 1\nl0: &l0 [x]\n${levels.join("\n")}\n`;

    expect((await planned(owner, bomb)).body.errors).toMatchObject([{ code: "alias" }]);
  });
});

test("F-F5 a file has every setting of a network that there is an operation for", () => {
  const settings = Object.keys(contracts.networks.update.input.shape).filter((name) => name !== "networkId");

  expect(Object.keys(NetworkPartSchema.shape)).toEqual(expect.arrayContaining(settings));
});
