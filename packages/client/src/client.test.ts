import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createClient } from "./client.ts";

let server: Server;
let url = "";
let seen: { request: IncomingMessage; body: string } | undefined;
let answer: { status: number; type: string; text: string } = { status: 200, type: "application/json", text: "{}" };

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      seen = { request, body };
      response.writeHead(answer.status, { "content-type": answer.type, etag: '"v1"' }).end(answer.text);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const bound = server.address();
  url = `http://127.0.0.1:${typeof bound === "object" && bound ? bound.port : 0}/`;
});
beforeEach(() => (answer = { status: 200, type: "application/json", text: "{}" }));
afterAll(() => void server.close());

const client = () => createClient({ url, token: "weft_pat_test" });

test("fields go into path, query and body as the table says, and every piece is encoded", async () => {
  await client().call("peers.list", { networkId: "net_a/../b", q: "a&b=c", limit: 5 });
  expect(seen?.request.url).toBe("/api/v1/networks/net_a%2F..%2Fb/peers?q=a%26b%3Dc&limit=5");
  expect(seen?.request.headers.authorization).toBe("Bearer weft_pat_test");

  await client().call("peers.update", { peerId: "peer_1", name: "n" }, { ifMatch: '"tag"' });
  expect(seen?.request.method).toBe("PATCH");
  expect(JSON.parse(seen?.body ?? "")).toEqual({ name: "n" });
  expect(seen?.request.headers["if-match"]).toBe('"tag"');
});

test("the tag of what was read can be kept for a change, and nobody needs a token for what anybody may ask", async () => {
  let tag = "";
  answer = { status: 200, type: "application/json", text: '{"id":"grp_1"}' };
  await client().call("groups.get", { groupId: "grp_1" }, { onTag: (text) => (tag = text) });
  expect(tag).toBe('"v1"');

  await createClient({ url }).call("setup.status", {});
  expect(seen?.request.headers.authorization).toBeUndefined();
});

test("a problem document becomes a failure with its code and request id", async () => {
  const problem = { status: 429, code: "rate_limited", detail: "too many", requestId: "r-1", retryAfterSeconds: 3 };
  answer = { status: 429, type: "application/problem+json", text: JSON.stringify(problem) };

  expect(await client().call("networks.list", {})).toEqual({
    ok: false,
    error: {
      kind: "refused",
      status: 429,
      code: "rate_limited",
      message: "too many",
      requestId: "r-1",
      retryAfterSeconds: 3,
    },
  });
});

test.each([
  { status: 502, type: "text/html", text: "<h1>bad gateway</h1>" },
  { status: 200, type: "text/html", text: "<h1>log in</h1>" },
  { status: 200, type: "application/json", text: "{ half" },
  { status: 302, type: "text/html", text: "" },
])("what is no weft server is told as such: $status $text", async (other) => {
  answer = other;

  expect(await client().call("networks.list", {})).toMatchObject({ ok: false, error: { kind: "unreachable" } });
});

test("a server that is not there is unreachable", async () => {
  const gone = createClient({ url: "http://127.0.0.1:1", token: "t" });

  expect(await gone.call("networks.list", {})).toMatchObject({ ok: false, error: { kind: "unreachable" } });
});
