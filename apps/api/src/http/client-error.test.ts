import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { createRestClient } from "../testing/rest-client.ts";

let server: TestApp;
beforeAll(async () => void (server = await createTestApp()));
afterAll(() => server.dispose());

/** Sends bytes and reads until the server closes. */
async function answerTo(bytes: string): Promise<{ readonly head: string; readonly body: unknown }> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  let text = "";
  socket.on("data", (part: Buffer) => (text += part.toString()));
  socket.write(bytes);
  await once(socket, "close");
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return { head, body: JSON.parse(body) };
}

test.each([
  {
    name: "headers without end",
    bytes: `GET / HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(20_000)}`,
    status: 431,
    code: "headers_too_large",
  },
  { name: "bytes that are no request", bytes: "\u0000\u0001nonsense\r\n\r\n", status: 400, code: "invalid_input" },
])("API-8 $name are answered with a problem document and a request id", async ({ bytes, status, code }) => {
  const { head, body } = await answerTo(bytes);

  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toContain("content-type: application/problem+json");
  expect(head).toMatch(/x-request-id: [\w-]{36}/);
  expect(body).toMatchObject({ status, code, requestId: expect.stringMatching(/^[\w-]{36}$/) });
});

test("a method that a path does not take is 405 whatever its body is, and Allow names those of just this path", async () => {
  const client = createRestClient(server.url);
  const refused = await client.call("DELETE", "/api/v1/networks", "{ half");
  expect(refused).toMatchObject({ status: 405, body: { code: "method_not_allowed" } });
  expect(refused.headers.get("allow")?.split(", ").toSorted()).toEqual(["GET", "POST"]);

  const spelt = await client.call("PUT", "/api/v1/invites/look", {});
  expect(spelt.headers.get("allow")).toBe("POST");
  expect(await client.call("PUT", "/api/v1/nothing", "{ half")).toMatchObject({ status: 404 });
});
