import { afterAll, beforeAll, expect, test } from "vitest";
import { isOperation, operations } from "../registry/operations.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { join } from "../testing/people.ts";
import { setUp } from "../testing/rest-client.ts";
import type { RestClient } from "../testing/rest-client.ts";

let server: TestApp;
let owner: RestClient;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner } = await setUp(server.url));
});
afterAll(() => server.dispose());

const SEGMENTS = [
  "..%2f..%2fnetworks",
  "..%2Fusers",
  "%2e%2e",
  ".%2e%2fusers%3flimit=1",
  "x%3b..%2fusers",
  "%00",
  "a%2fb",
];
const WITH_PARAMETERS = operations.filter((one) => isOperation(one) && one.contract.rest.path.includes("{"));

test.each(WITH_PARAMETERS)(
  "SEC-39 a crafted segment in the path of $name reaches nothing else",
  async ({ contract }) => {
    const { method, path } = contract.rest;
    for (const segment of SEGMENTS) {
      const hasBody = method === "POST" || method === "PATCH" || method === "PUT";
      const url = `/api/v1${path.replace(/\{\w+\}/g, segment)}`;
      const answer = await owner.call(method, url, hasBody ? {} : undefined, { "if-match": "*" });
      expect({ segment, refused: [400, 404, 405].includes(answer.status) }).toEqual({ segment, refused: true });
    }
  },
);

test("SEC-39 SEC-36 names full of quotes, slashes and statements are data, from login to list", async () => {
  const names = [
    "../owner",
    "a'b;drop\u00a0table".replace("\u00a0", "-"),
    '"x"',
    "%2e%2e%2fusers",
    "$(reboot)",
    "`id`",
    "--;--",
  ];
  for (const login of names) {
    const { browser } = await join(server, owner, { login, role: "viewer" });
    const found = await owner.get(`/api/v1/users?q=${encodeURIComponent(login)}`);
    expect(found.body.items.map((user: { login: string }) => user.login)).toEqual([login]);
    expect((await browser.get("/api/v1/sessions/current")).body.user.login).toBe(login);
  }

  const wild = await owner.get(`/api/v1/users?q=${encodeURIComponent("%")}&count=true`);
  const injected = await owner.get(`/api/v1/users?q=${encodeURIComponent("' or 1=1 --")}`);

  expect(wild.body.total).toBe(1);
  expect(injected.body.items).toEqual([]);
});

test("SEC-39 names with blanks, line breaks and other control characters are refused", async () => {
  for (const login of ["a b", "a\nb", "a\u0000b", "a\u007fb", "a\u2028x", "nora\u202earon", "a\u200bb", ""]) {
    const answer = await owner.post("/api/v1/invites", { role: "viewer", login });
    expect({ login, status: answer.status }).toEqual({ login, status: 400 });
  }
});
