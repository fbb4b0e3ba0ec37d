import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allOperations, isOperation } from "../registry/operations.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent } from "../testing/simulated-agent.ts";
import { openApiDocument } from "./openapi.ts";

const DOCUMENT: Json = openApiDocument("1");
/** Words that stand for one thing each, of which there is one. */
const SINGLE = new Set(["setup", "account", "instance", "current", "proposal", "policy", "settings", "dns", "totp"]);

/** A proposal is another one each time. */
const IS_RANDOM = new Set(["networks.propose"]);

let server: TestApp;
let owner: RestClient;
let network: Json;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner, network } = await setUp(server.url));
});
afterAll(() => server.dispose());

describe("paths", () => {
  const paths = Object.keys(DOCUMENT.paths).map((path) => path.slice(1).split("/"));

  test("API-1 begin at /api/v1 and are made of words in kebab case; what holds items is a plural", () => {
    expect(DOCUMENT.servers).toEqual([{ url: "/api/v1" }]);
    const odd = paths.flat().filter((part) => !/^(\{[a-z]+([A-Z][a-z]+)*\}|[a-z]+(-[a-z]+)*)$/.test(part));
    const collections = paths.flatMap((parts) =>
      parts.filter((part, place) => !part.startsWith("{") && parts[place + 1]?.startsWith("{")),
    );
    const singular = [...new Set(collections)].filter((part) => !part.endsWith("s") && !SINGLE.has(part));

    expect({ odd, singular }).toEqual({ odd: [], singular: [] });
  });

  test("API-1 a list of what belongs to a network stands below it, or below something of it", () => {
    const misplaced = allOperations.flatMap(({ name, contract }) => {
      if (!isOperation({ name, contract } as never) || contract.kind === "subscription") return [];
      const operation = DOCUMENT.paths[contract.rest.path][contract.rest.method.toLowerCase()];
      const schema = operation.responses["200"]?.content?.["application/json"]?.schema;
      const items = resolved(resolved(schema)?.properties?.items?.items);
      const networkId = items?.properties?.networkId;
      // What may be of the whole server says so by null, and has a list of its own.
      const isBound = networkId !== undefined && !JSON.stringify(networkId).includes("null");
      return isBound && !/^\/(networks|peers|groups)\/\{/.test(contract.rest.path) ? [contract.rest.path] : [];
    });

    expect(misplaced).toEqual([]);
  });
});

function resolved(schema: Json): Json {
  return schema?.$ref === undefined ? schema : DOCUMENT.components.schemas[String(schema.$ref).split("/").at(-1) ?? ""];
}

/** Every property of every schema of the document, with its name. */
function properties(value: Json): { readonly name: string; readonly schema: Json }[] {
  if (Array.isArray(value)) return value.flatMap(properties);
  if (typeof value !== "object" || value === null) return [];
  const own = Object.entries<Json>(value["type"] === "object" ? (value.properties ?? {}) : {});
  return [...own.map(([name, schema]) => ({ name, schema })), ...Object.values<Json>(value).flatMap(properties)];
}

function typesOf(schema: Json): readonly string[] {
  const parts: readonly Json[] = schema?.anyOf ?? [schema];
  return parts.flatMap(({ type }) => type ?? []);
}

describe("JSON", () => {
  const all = [
    ...properties(DOCUMENT),
    ...Object.values<Json>(DOCUMENT.paths).flatMap((path) =>
      Object.values<Json>(path).flatMap(({ parameters }) =>
        parameters
          .filter((one: Json) => one.in !== "header")
          .map((one: Json) => ({ name: one.name, schema: one.schema })),
      ),
    ),
  ];

  test("API-4 names are in camel case", () => {
    expect(all.length).toBeGreaterThan(200);
    const odd = all.filter(({ name }) => !/^[a-z]+\d*([A-Z][a-z0-9]*)*$/.test(name));

    expect([...new Set(odd.map(({ name }) => name))]).toEqual([]);
  });

  test("API-4 a moment is named …At and is a date-time; whatever is a date-time is named so", () => {
    const isMoment = (schema: Json): boolean => JSON.stringify(schema ?? {}).includes('"format":"date-time"');
    const named = all.filter(({ name }) => /(^at|[a-z]At)$/.test(name));
    const wrong = [
      ...named.filter(({ schema }) => !isMoment(schema)),
      ...all.filter(
        ({ name, schema }) =>
          typesOf(schema).includes("string") &&
          isMoment(schema) &&
          !/(^at|At|^from|^to|^since|^until|^before|^after)$/.test(name),
      ),
    ];

    expect(named.length).toBeGreaterThan(10);
    expect([...new Set(wrong.map(({ name }) => name))]).toEqual([]);
  });

  test("API-4 a number of time or size carries its unit in its name, and a 64-bit counter is a decimal string", () => {
    const isNumber = (schema: Json) => typesOf(schema).some((type) => type === "integer" || type === "number");
    const bare = all.filter(
      ({ name, schema }) =>
        isNumber(schema) &&
        /(time|timeout|age|ttl|duration|delay|interval|lifetime|retention|size|length)$/i.test(name),
    );
    const counters = all.filter(({ name }) => /^(rx|tx)(Bytes|Packets)$/.test(name));

    expect([...new Set(bare.map(({ name }) => name))]).toEqual([]);
    expect(counters.length).toBeGreaterThan(1);
    expect(counters.filter(({ schema }) => typesOf(schema).join() !== "string")).toEqual([]);
  });
});

describe("REST and tRPC", () => {
  test("API-6 D5 answer every question alike, whoever asks", async () => {
    const { key, id: enrolmentKeyId } = await makeKey(owner, network.id);
    const agent = await connectAgent(server.url, { joinKey: key });
    const { peerId } = await agent.next("welcome");
    await agent.until(() => true);
    agent.leave();
    const { body: group } = await owner.post(`/api/v1/networks/${network.id}/groups`, { name: "web" });
    const ids: Readonly<Record<string, string>> = { networkId: network.id, peerId, groupId: group.id, enrolmentKeyId };
    const queries = allOperations.flatMap((operation) =>
      isOperation(operation) &&
      operation.contract.rest.method === "GET" &&
      operation.contract.rest.download === undefined &&
      !IS_RANDOM.has(operation.name)
        ? [operation]
        : [],
    );
    const different: unknown[] = [];
    let compared = 0;

    for (const { name, contract } of queries) {
      const params = [...contract.rest.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
      const input = Object.fromEntries(params.map((param) => [param, ids[param] ?? "unknown"]));
      const path = contract.rest.path.replace(/\{(\w+)\}/g, (_whole, param: string) => input[param] ?? "");
      const query = params.length === 0 ? "" : `?input=${encodeURIComponent(JSON.stringify(input))}`;
      const rest = await owner.get(`/api/v1${path}`);
      const trpc = await owner.get(`/trpc/${name}${query}`);
      const data = trpc.body.result?.data ?? trpc.body.error?.data?.problem;
      compared += rest.status === 200 ? 1 : 0;
      if (JSON.stringify(comparable(rest.body)) !== JSON.stringify(comparable(data ?? ""))) {
        different.push({ name, rest: rest.body, trpc: trpc.body });
      }
    }

    expect(different).toEqual([]);
    expect(compared).toBeGreaterThan(15);
  });
});

/** Without what tells two calls apart, and what passes between them. */
function comparable(body: Json): Json {
  if (Array.isArray(body)) return body.map(comparable);
  if (typeof body !== "object" || body === null) return body;
  const {
    requestId: _request,
    instance: _path,
    lastSeenAt: _seen,
    lastUsedAt: _used,
    nextCursor: _cursor,
    from: _from,
    until: _until,
    ...rest
  } = body;
  return Object.fromEntries(Object.entries(rest).map(([name, inner]) => [name, comparable(inner)]));
}
