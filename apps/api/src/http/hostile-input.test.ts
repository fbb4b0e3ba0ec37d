import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { operations } from "../registry/operations.ts";
import type { Operation } from "../registry/operations.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { openApiDocument } from "./openapi.ts";
import { STATUS_OF_CODE } from "./problem-of.ts";
import { shapeOf } from "./query-values.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner, network } = await setUp(server.url));
});
afterAll(() => server.dispose());

/** Would end the session that the test works with, or waits for nodes that are not there. */
const LEFT_OUT = ["sessions.logout", "setup.createOwner", "networks.remove"];
const document: Json = openApiDocument("0.0.0");

/** Texts that broke servers: paths, quotes, separators, numbers at the edge, text that is no text. */
const NASTY = [
  "",
  " ",
  "..",
  "../../etc/passwd",
  "%00",
  "\u0000",
  "'; drop table peers; --",
  "${jndi:ldap://x}",
  "<script>alert(1)</script>",
  "🙂".repeat(50),
  "\ud800",
  "a".repeat(5_000),
  "-1",
  "9007199254740993",
  "1e999",
  "NaN",
  "true",
  "null",
  "[]",
  "2030-02-30T00:00:00Z",
  "9999-12-31T23:59:59.999999999Z",
  "0000-00-00T00:00:00Z",
  "+275760-09-13T00:00:00.001Z",
  "net_00000000000000000000000000",
];
const anything = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
);

describe.each(operations.filter(({ name }) => !LEFT_OUT.includes(name)))("$name", (operation) => {
  test("API-3 SEC-37 hostile input is answered as the document says, never with a 500", async () => {
    await fc.assert(
      fc.asyncProperty(hostileCall(operation), async ({ path, query, body }) => {
        const { method } = operation.contract.rest;
        const answer = await owner.call(method, path + query, body);

        expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500);
        if (answer.status >= 400) {
          expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
          expect(STATUS_OF_CODE).toHaveProperty(String(answer.body.code), answer.status);
        } else {
          const documented = document.paths[operation.contract.rest.path]?.[method.toLowerCase()]?.responses;
          expect(Object.keys(documented)).toContain(String(answer.status));
        }
      }),
      { numRuns: 12 },
    );
  });
});

describe.each(operations.filter(({ name }) => !LEFT_OUT.includes(name)))("$name", (operation) => {
  test("API-3 each field alone with the worst texts is no failure of ours", async () => {
    const { rest, kind, input } = operation.contract;
    const shape = shapeOf(input);
    const takesBody = kind === "mutation" && rest.method !== "DELETE";
    const path = `/api/v1${rest.path.replace(/\{(\w+)\}/g, (_whole, name: string) => fc.sample(goodId(name), 1)[0] ?? "")}`;
    for (const field of Object.keys(shape).filter((name) => !rest.path.includes(`{${name}}`))) {
      for (const worst of ["\u0000", "x\u0000y", "\ud800", "%", "\\", "9".repeat(400), "a".repeat(90)]) {
        const good = Object.fromEntries(
          Object.entries(shape)
            .filter(
              ([name, schema]) =>
                name !== field && !rest.path.includes(`{${name}}`) && !schema.safeParse(undefined).success,
            )
            .map(([name, schema]) => [name, fc.sample(goodValue(schema), 1)[0]]),
        );
        const query = takesBody ? "" : `?${field}=${encodeSafely(worst)}`;
        const answer = await owner.call(
          rest.method,
          path + query,
          takesBody ? JSON.stringify({ ...good, [field]: worst }) : undefined,
        );
        expect(answer.status, `${field}=${JSON.stringify(worst)}: ${JSON.stringify(answer.body)}`).toBeLessThan(500);
      }
    }
  });
});

test("nothing of that reached the log as a failure of ours", () => {
  expect(server.logText()).not.toContain('"event":"request_failed"');
});

/** A call with a good shape here and a bad one there. */
function hostileCall(operation: Operation): fc.Arbitrary<{ path: string; query: string; body: string | undefined }> {
  const { rest, kind, input } = operation.contract;
  const shape = shapeOf(input);
  const inPath = [...rest.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  const fields = Object.keys(shape).filter((name) => !inPath.includes(name));
  const takesBody = kind === "mutation" && rest.method !== "DELETE";
  const value = (name: string) =>
    fc.oneof({ weight: 2, arbitrary: anything }, { weight: 3, arbitrary: goodValue(shape[name]) });
  const chosen = fc.record(Object.fromEntries(fields.map((name) => [name, value(name)])), { requiredKeys: [] });
  const extra = fc.option(fc.constantFrom("__proto__", "constructor", "isAdmin", "a".repeat(300)), { freq: 5 });
  const ids = fc.record(
    Object.fromEntries(inPath.map((name) => [name, fc.oneof(fc.constantFrom(...NASTY), goodId(name))])),
  );
  return fc.tuple(chosen, extra, ids).map(([given, more, params]) => {
    const all: Record<string, unknown> = { ...given };
    if (more !== null) Object.defineProperty(all, more, { value: 1, enumerable: true });
    const path = `/api/v1${rest.path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeSafely(String(params[name])))}`;
    if (takesBody) return { path, query: "", body: JSON.stringify(all) };
    const pairs = Object.entries(all).map(
      ([name, inner]) =>
        `${encodeSafely(name)}=${encodeSafely(typeof inner === "string" ? inner : (JSON.stringify(inner) ?? ""))}`,
    );
    return { path, query: pairs.length === 0 ? "" : `?${pairs.join("&")}`, body: undefined };
  });
}

/** Mostly the network that exists: what lies behind a good id must be reached, too. */
function goodId(name: string): fc.Arbitrary<string> {
  const prefixes: Readonly<Record<string, string>> = {
    networkId: "net_",
    peerId: "peer_",
    ruleId: "pol_",
    webhookId: "hook_",
  };
  if (name === "networkId") return fc.constant("").map(() => network.id);
  return fc.constant(`${prefixes[name] ?? "x_"}${"0".repeat(26)}`);
}

/** What a schema takes, roughly. */
function goodValue(schema: z.ZodType | undefined): fc.Arbitrary<unknown> {
  if (!schema) return anything;
  const json: Json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return fromJsonSchema(json);
}

function fromJsonSchema(json: Json): fc.Arbitrary<unknown> {
  if (Array.isArray(json.enum)) return fc.constantFrom(...json.enum);
  if (Array.isArray(json.anyOf)) return fc.oneof(...json.anyOf.map(fromJsonSchema));
  switch (json.type) {
    case "integer":
    case "number":
      return fc.integer({ min: Math.max(json.minimum ?? -5, -1e9), max: Math.min(json.maximum ?? 1e9, 1e9) });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(fromJsonSchema(json.items ?? {}), { maxLength: 3 });
    case "object":
      return fc.record(
        Object.fromEntries(
          Object.entries<Json>(json.properties ?? {}).map(([name, inner]) => [name, fromJsonSchema(inner)]),
        ),
      );
    default:
      return fc.oneof(
        fc.constantFrom(`name-${randomBytes(4).toString("hex")}`, "10.1.0.0/16", "2031-01-01T00:00:00Z"),
        fc.string({ maxLength: 30 }),
      );
  }
}

/** Halves of surrogate pairs cannot be encoded; a client would send their replacement. */
function encodeSafely(text: string): string {
  return encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/gu, "\ufffd"));
}
