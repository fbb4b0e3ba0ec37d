import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { contracts } from "../registry/contracts.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner, network } = await setUp(server.url));
});
afterAll(() => server.dispose());

describe("conventions", () => {
  test("F-F1 API-3 every operation is in the OpenAPI document with its permission and scope", async () => {
    const { body } = await owner.get("/api/v1/openapi.json");

    const documented = Object.values<Json>(body.paths).flatMap((path) => Object.values<Json>(path));
    const names = documented.map(({ operationId }) => operationId);
    const expected = Object.entries(contracts).flatMap(([noun, verbs]) =>
      Object.entries(verbs).flatMap(([verb, { kind }]) => (kind === "subscription" ? [] : [`${noun}.${verb}`])),
    );
    expect(new Set(names)).toEqual(new Set(expected));
    expect(names).toHaveLength(expected.length);
    for (const operation of documented) {
      expect(operation["x-permission"]).toBeTruthy();
      if (operation["x-permission"] !== "public") expect(operation["x-scope"]).toMatch(/^\w+:(read|write)$/);
    }
    expect(body.openapi).toBe("3.1.0");
    expect(JSON.stringify(body)).not.toContain("#/$defs/");
  });

  test("API-5 unknown body fields and query parameters are refused by name", async () => {
    const body = await owner.post("/api/v1/networks", { name: "x", isAdmin: true });
    const query = await owner.get("/api/v1/networks?colour=red");
    const both = await owner.call("PATCH", `/api/v1/networks/${network.id}?name=a`, { name: "b", networkId: "c" });

    expect(body.status).toBe(400);
    expect(body.body.errors).toMatchObject([{ pointer: "/isAdmin", code: "unknown_field" }]);
    expect(query.body.errors).toMatchObject([{ pointer: "/colour", code: "unknown_field" }]);
    expect(both.body.errors.map(({ pointer }: Json) => pointer)).toEqual(["/name", "/networkId"]);
  });

  test("API-8 a valid request id is kept, another one replaced, and errors carry it", async () => {
    const kept = await owner.call("GET", "/api/v1/nowhere", undefined, { "x-request-id": "trace-0123456789" });
    const replaced = await owner.call("GET", "/api/v1/nowhere", undefined, { "x-request-id": "x y" });

    expect(kept.headers.get("x-request-id")).toBe("trace-0123456789");
    expect(kept.body).toMatchObject({ status: 404, code: "not_found", requestId: "trace-0123456789" });
    expect(replaced.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    { method: "PUT", path: "/api/v1/networks", body: {}, status: 405, code: "method_not_allowed" },
    { method: "GET", path: "/api/v1/networks/net_0", body: undefined, status: 400, code: "invalid_input" },
    { method: "POST", path: "/api/v1/networks", body: "{", status: 400, code: "invalid_input" },
    { method: "POST", path: "/api/v1/networks", body: "[]", status: 400, code: "invalid_input" },
    { method: "GET", path: "/api/v1/networks?cursor=AAAA", body: undefined, status: 400, code: "cursor_invalid" },
    {
      method: "POST",
      path: "/api/v1/networks",
      body: `{"name":"${"a".repeat(1_000_001)}"}`,
      status: 413,
      code: "payload_too_large",
    },
  ])("$method $path answers $status $code as a problem document", async ({ method, path, body, status, code }) => {
    const answer = await owner.call(method, path, body);

    expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({ status, code });
    expect(answer.status).toBe(status);
  });

  test("a body of another media type is refused with 415", async () => {
    const answer = await owner.call("POST", "/api/v1/networks", "name=x", { "content-type": "text/plain" });

    expect(answer.body).toMatchObject({ status: 415, code: "unsupported_media" });
  });

  test("API-2 create answers 201 with Location, delete 204 and then 404", async () => {
    const created = await owner.post("/api/v1/networks", { name: "short-lived" });
    const path = `/api/v1/networks/${created.body.id}`;

    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe(path);
    expect((await owner.get(path)).body).toEqual(created.body);
    expect((await owner.call("DELETE", path)).status).toBe(204);
    expect((await owner.call("DELETE", path)).status).toBe(404);
  });

  test("API-20 API-21 API-22 lists page by cursor in both directions, stable while rows come and go", async () => {
    for (const name of ["page-a", "page-b", "page-c", "page-d"]) await owner.post("/api/v1/networks", { name });
    const read = async (sort: string) => {
      const names: string[] = [];
      let cursor: string | null = null;
      do {
        const place: string = cursor === null ? "" : `&cursor=${cursor}`;
        const { body } = await owner.get(`/api/v1/networks?limit=2&q=page-&count=true&sort=${sort}${place}`);
        expect(body.total).toBeGreaterThanOrEqual(4);
        names.push(...body.items.map(({ name }: Json) => name));
        cursor = body.nextCursor;
      } while (cursor !== null);
      return names;
    };
    const first = await owner.get("/api/v1/networks?limit=2&q=page-");

    const rising = await read("name");
    const falling = await read("-name");
    await owner.post("/api/v1/networks", { name: "page-aa" });
    const second = await owner.get(`/api/v1/networks?limit=2&q=page-&cursor=${first.body.nextCursor}`);
    const elsewhere = await owner.get(`/api/v1/networks?limit=2&q=other&cursor=${first.body.nextCursor}`);

    expect(rising).toEqual(["page-a", "page-b", "page-c", "page-d"]);
    expect(falling).toEqual(rising.toReversed());
    expect(second.body.items.map(({ name }: Json) => name)).toEqual(["page-c", "page-d"]);
    expect(elsewhere.body.code).toBe("cursor_invalid");
  });

  test("long JSON answers travel compressed on both surfaces, short ones and problems stay readable bytes", async () => {
    const ask = (path: string, coding: string) => owner.call("GET", path, undefined, { "accept-encoding": coding });

    const long = await ask("/api/v1/openapi.json", "br");
    const lists = await ask("/trpc/networks.list", "gzip");
    const plain = await ask("/trpc/networks.list", "identity");
    const short = await ask(`/api/v1/networks/${network.id}`, "br");
    const problem = await ask("/trpc/networks.get?input=%7B%7D", "gzip");

    expect(long.headers.get("content-encoding")).toBe("br");
    expect(long.body.openapi).toBe("3.1.0");
    expect(lists.headers.get("content-encoding")).toBe("gzip");
    expect(lists.headers.get("vary")).toContain("accept-encoding");
    expect(lists.body).toEqual(plain.body);
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(short.headers.get("content-encoding")).toBeNull();
    expect(problem.body.error.data.problem).toMatchObject({ status: 400, code: "invalid_input" });
    expect(problem.status).toBe(400);
  });

  test("API-23 every sort of networks and peers runs on an index", async () => {
    server.takeStatements();
    for (const sort of ["name", "-name", "createdAt", "-createdAt"]) {
      await owner.get(`/api/v1/networks?sort=${sort}`);
      await owner.get(`/api/v1/networks/${network.id}/peers?sort=${sort}`);
    }
    const { sql, dispose } = server.database.connect();
    const pages = server.takeStatements().filter((text) => /order by/i.test(text) && /limit/i.test(text));
    const plans: string[] = [];
    for (const text of pages) {
      const filled = text.replace(/limit \$\d+/, "limit 101").replaceAll(/\$\d+/g, "'x'");
      plans.push(
        await sql.begin(async (tx) => {
          await tx`set local enable_seqscan = off`;
          await tx`set local enable_sort = off`;
          const rows = await tx.unsafe(`explain ${filled}`);
          return rows.map((row) => row["QUERY PLAN"]).join("\n");
        }),
      );
    }
    await dispose();

    expect(pages).toHaveLength(8);
    for (const plan of plans) {
      expect(plan).toMatch(/Index/);
      // A name is unique in its network: sorting its ties by id sorts single rows.
      expect(plan).not.toMatch(/(?<!Incremental )Sort {2}\(/);
    }
  });
});

describe("networks", () => {
  test.each([
    { ipv4Range: "10.1.2.3/16", code: "range_invalid" },
    { ipv4Range: "10.0.0.0/31", code: "range_invalid" },
    { ipv4Range: "127.0.0.0/8", code: "range_invalid" },
    { ipv4Range: "fd00::/64", code: "range_invalid" },
    { ipv4Range: "abc", code: "range_invalid" },
  ])("range $ipv4Range is refused as $code", async ({ ipv4Range, code }) => {
    const answer = await owner.post("/api/v1/networks", { name: "odd", ipv4Range });

    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe(code);
  });

  test("a range that overlaps another network and a name that is taken are conflicts", async () => {
    const overlap = await owner.post("/api/v1/networks", { name: "twin", ipv4Range: network.ipv4Range });
    const name = await owner.post("/api/v1/networks", { name: "OFFICE" });

    expect(overlap.body).toMatchObject({ status: 409, code: "range_overlaps" });
    expect(name.body).toMatchObject({ status: 409, code: "name_taken" });
  });

  test("a proposal can be used as it is", async () => {
    const { body } = await owner.get("/api/v1/networks/proposal");

    const created = await owner.post("/api/v1/networks", { name: "proposed", ...body });

    expect(created.status).toBe(201);
    expect(created.body).toMatchObject(body);
  });

  test("every change leaves an audit event with who, what, before and after", async () => {
    const { body } = await owner.post("/api/v1/networks", { name: "audited" });
    await owner.call("PATCH", `/api/v1/networks/${body.id}`, { name: "audited-2" }, { "if-match": "*" });
    const { sql, dispose } = server.database.connect();

    const events =
      await sql`select actor_login, action, before, after from audit_events where object_id = ${body.id} order by at`;
    await dispose();

    expect(events.map(({ action }) => action)).toEqual(["networks.create", "networks.update"]);
    expect(events[1]).toMatchObject({ actor_login: "olga", before: { name: "audited" }, after: { name: "audited-2" } });
  });
});

test("the type of a problem leads to its code on the docs page", async () => {
  const problem = (await createRestClient(server.url).get("/api/v1/networks")).body;
  const [page = "", anchor = ""] = problem.type.split("#");

  const docs = await owner.get(page);

  expect(problem.code).toBe("not_authenticated");
  expect(docs.body).toContain(`id="${anchor}"`);
});

describe("credentials", () => {
  test("a token that ends makes none that lives on", async () => {
    const scopes = ["tokens:write"];
    const made = await owner.post("/api/v1/tokens", { name: "short", scopes, expiresInSeconds: 60 });
    const heir = createRestClient(server.url, { token: made.body.token });

    const endless = await heir.post("/api/v1/tokens", { name: "endless", scopes });
    const longer = await heir.post("/api/v1/tokens", { name: "longer", scopes, expiresInSeconds: 3_600 });

    expect([endless.body.expiresAt, longer.body.expiresAt]).toEqual([made.body.expiresAt, made.body.expiresAt]);
    const free = await owner.post("/api/v1/tokens", { name: "endless", scopes });
    expect(free.body.expiresAt).toBeNull();
  });

  test("F-D7 API-40 API-41 SEC-4 tokens are shown once, act with their scopes, and leave no trace in the database", async () => {
    const made = await owner.post("/api/v1/tokens", { name: "ci", scopes: ["networks:read"] });
    const robot = createRestClient(server.url, { token: made.body.token });

    const list = await owner.get("/api/v1/tokens");
    const { sql, dispose } = server.database.connect();
    const rows = JSON.stringify(await sql`select * from tokens`);
    await dispose();

    expect(made.body.token).toMatch(/^weft_pat_[0-9A-Za-z]{36}$/);
    expect(list.body.items[0]).toMatchObject({ name: "ci", hint: `${made.body.token.slice(0, 13)}…` });
    expect(JSON.stringify(list.body)).not.toContain(made.body.token);
    expect(rows).not.toContain(made.body.token.slice(9));
    expect((await robot.get("/api/v1/networks")).status).toBe(200);
    expect((await robot.post("/api/v1/networks", { name: "no" })).body).toMatchObject({
      status: 403,
      code: "scope_missing",
      detail: "the token lacks the scope networks:write",
    });
    expect((await robot.get(`/api/v1/networks/${network.id}/peers`)).body.code).toBe("scope_missing");
    await owner.call("DELETE", `/api/v1/tokens/${made.body.id}`);
    expect((await robot.get("/api/v1/networks")).status).toBe(401);
  });

  test("API-40 a mistyped token is refused without asking the database", async () => {
    const made = await owner.post("/api/v1/tokens", { name: "typo", scopes: ["networks:read"] });
    const last = made.body.token.at(-1) === "a" ? "b" : "a";
    const robot = createRestClient(server.url, { token: made.body.token.slice(0, -1) + last });
    server.takeStatements();

    const answer = await robot.get("/api/v1/networks");

    expect(answer.status).toBe(401);
    expect(server.takeStatements()).toEqual([]);
  });

  test("a token hands on only scopes that it has", async () => {
    const made = await owner.post("/api/v1/tokens", { name: "maker", scopes: ["tokens:write", "peers:read"] });
    const robot = createRestClient(server.url, { token: made.body.token });

    const same = await robot.post("/api/v1/tokens", { name: "child", scopes: ["peers:read"] });
    const more = await robot.post("/api/v1/tokens", { name: "child", scopes: ["networks:write"] });

    expect(same.status).toBe(201);
    expect(more.body.code).toBe("scope_missing");
  });

  test("SEC-31 SEC-4 enrolment keys are stored hashed and listed without their secret", async () => {
    const made = await makeKey(owner, network.id);
    const { body } = await owner.get(`/api/v1/networks/${network.id}/enrolment-keys`);

    expect(made.joinLine).toBe(`weft join ${server.url} ${made.key}`);
    expect(body.items[0]).toMatchObject({ id: made.id, state: "valid", uses: 0, usesMax: null });
    expect(JSON.stringify(body)).not.toContain(made.key.split(".")[0]);
    await owner.call("DELETE", `/api/v1/enrolment-keys/${made.id}`);
    const after = await owner.get(`/api/v1/networks/${network.id}/enrolment-keys`);
    expect(after.body.items[0].state).toBe("revoked");
  });
});
