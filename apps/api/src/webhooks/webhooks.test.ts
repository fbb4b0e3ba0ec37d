import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { eventually } from "../testing/simulated-agent.ts";
import { sendWebhook } from "./send-webhook.ts";

type Received = { readonly headers: IncomingMessage["headers"]; readonly text: string; readonly body: Json };

let server: TestApp;
let owner: RestClient;
let skewMs = 0;
let receiver: Server;
let receiverUrl = "";
let received: Received[] = [];
let answers: (received: Received) => { readonly status: number; readonly location?: string } = () => ({ status: 204 });

beforeAll(async () => {
  server = await createTestApp({
    clock: { nowMs: () => Date.now() + skewMs },
    environment: { WEFT_WEBHOOK_PRIVATE_TARGETS: "allow" },
  });
  ({ owner } = await setUp(server.url));
  receiver = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (part: string) => (text += part));
    request.on("end", () => {
      const one = { headers: request.headers, text, body: JSON.parse(text) };
      received.push(one);
      const { status, location } = answers(one);
      response.writeHead(status, location === undefined ? {} : { location }).end("thanks");
    });
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  const bound = receiver.address();
  if (typeof bound !== "object" || bound === null) throw new Error("a listening server has an address");
  receiverUrl = `http://127.0.0.1:${bound.port}/hook`;
});
beforeEach(() => {
  received = [];
  answers = () => ({ status: 204 });
});
afterEach(async () => {
  for (const { id } of (await owner.get("/api/v1/webhooks")).body.items)
    await owner.call("DELETE", `/api/v1/webhooks/${id}`);
});
afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await server.dispose();
});

const make = async (input: object = {}): Promise<Json> => {
  const made = await owner.post("/api/v1/webhooks", { name: "ops", url: receiverUrl, ...input });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body;
};
const deliveries = async (id: string, query = ""): Promise<Json[]> =>
  (await owner.get(`/api/v1/webhooks/${id}/deliveries${query}`)).body.items;
const makeNetwork = async (name: string): Promise<Json> => (await owner.post("/api/v1/networks", { name })).body;
const heardOf = (id: string) => received.find(({ body }) => body.objectId === id);

describe("F-E2 a webhook", () => {
  test("hears of a change, signed over time and body under its secret", async () => {
    const hook = await make({ actions: ["networks.*"] });
    const network = await makeNetwork("told");

    const { headers, text, body } = await eventually("the event", () => heardOf(network.id));
    const [, time = "", mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["weft-signature"])) ?? [];

    expect(mac).toBe(createHmac("sha256", hook.secret).update(`${time}.${text}`).digest("hex"));
    expect(Math.abs(Number(time) * 1_000 - Date.now())).toBeLessThan(600_000);
    expect(body).toMatchObject({
      action: "networks.create",
      actor: { login: "olga" },
      before: null,
      after: { name: "told" },
    });
    expect(headers["weft-event-id"]).toBe(body.id);
    expect((await owner.get(`/api/v1/audit-events/${body.id}`)).body.objectId).toBe(network.id);
    const log = await eventually("the log", async () => (await deliveries(hook.id, "?state=delivered")).at(0));
    expect(log).toMatchObject({ eventId: body.id, attempts: 1, lastStatus: 204, lastError: null });
  });

  test("hears nothing of other actions, nothing while it is off, and nothing of changes that failed", async () => {
    const hook = await make({ actions: ["tokens.create"] });
    const off = await make({ state: "off" });
    await makeNetwork("unheard");
    await owner.post("/api/v1/networks", { name: "unheard" });
    const token = await owner.post("/api/v1/tokens", { name: "heard", scopes: ["audit:read"] });

    await eventually("the event", () => heardOf(token.body.id));

    expect(await deliveries(hook.id)).toHaveLength(1);
    expect(await deliveries(off.id)).toEqual([]);
  });

  test("is tried again with the same event until it answers well", async () => {
    let failures = 2;
    answers = () => ({ status: failures-- > 0 ? 500 : 200 });
    const hook = await make({ actions: ["networks.create"] });
    const network = await makeNetwork("again");
    await eventually("the first attempt", async () =>
      (await deliveries(hook.id)).find(({ lastStatus }) => lastStatus === 500),
    );

    for (let attempt = 2; attempt <= 3; attempt += 1) {
      skewMs += 3_600_000;
      await eventually(`attempt ${attempt}`, async () =>
        (await deliveries(hook.id)).find(({ attempts }) => attempts >= attempt),
      );
    }

    const [log] = await eventually("the end", async () => {
      const found = await deliveries(hook.id, "?state=delivered");
      return found.length > 0 ? found : undefined;
    });
    expect(log).toMatchObject({ attempts: 3, lastStatus: 200 });
    const ids = received
      .filter(({ body }) => body.objectId === network.id)
      .map(({ headers }) => headers["weft-event-id"]);
    expect(ids.length).toBe(3);
    expect(new Set(ids).size).toBe(1);
  });

  test("is given up after 24 hours", async () => {
    answers = () => ({ status: 503 });
    const hook = await make({ actions: ["networks.create"] });
    await makeNetwork("given up");
    await eventually("the first attempt", async () =>
      (await deliveries(hook.id)).find(({ lastStatus }) => lastStatus === 503),
    );

    skewMs += 25 * 3_600_000;

    const log = await eventually("the end", async () => (await deliveries(hook.id, "?state=failed")).at(0));
    expect(log).toMatchObject({ nextAttemptAt: null, lastStatus: 503, lastError: "the receiver answered 503" });
    expect(log.finishedAt).not.toBeNull();
  });

  test("that says 410 is not asked again", async () => {
    answers = () => ({ status: 410 });
    const hook = await make();

    const answer = await owner.post(`/api/v1/webhooks/${hook.id}/test`);

    expect(answer.body).toMatchObject({ state: "failed", lastStatus: 410 });
  });

  test("that redirects gets nothing at the other place", async () => {
    let elsewhere = 0;
    const other = createServer((_request, response) => {
      elsewhere += 1;
      response.end();
    });
    await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
    const bound = other.address();
    const port = typeof bound === "object" && bound ? bound.port : 0;
    answers = () => ({ status: 307, location: `http://127.0.0.1:${port}/` });
    const hook = await make();

    const answer = await owner.post(`/api/v1/webhooks/${hook.id}/test`);
    other.close();

    expect(answer.body).toMatchObject({ state: "pending", lastStatus: 307 });
    expect(answer.body.lastError).toMatch(/redirects are not followed/);
    expect(elsewhere).toBe(0);
  });

  test("is tested at once, and the answer says how that went", async () => {
    const hook = await make({ actions: ["peers.update"] });

    const good = await owner.post(`/api/v1/webhooks/${hook.id}/test`);
    await owner.call("PATCH", `/api/v1/webhooks/${hook.id}`, { url: "http://127.0.0.1:1/" });
    const bad = await owner.post(`/api/v1/webhooks/${hook.id}/test`);

    expect(good.body).toMatchObject({ state: "delivered", attempts: 1, lastStatus: 204 });
    expect(heardOf(hook.id)?.body.action).toBe("webhooks.test");
    expect(bad.body).toMatchObject({ state: "pending", attempts: 1, lastStatus: null });
    expect(bad.body.lastError).toMatch(/ECONNREFUSED/);
  });

  test("has a secret that only two answers show, and that a rotation ends", async () => {
    const hook = await make();
    const rotated = await owner.post(`/api/v1/webhooks/${hook.id}/rotate-secret`);
    await owner.post(`/api/v1/webhooks/${hook.id}/test`);
    const { sql, dispose } = server.database.connect();
    const rows = JSON.stringify(await sql`select * from webhooks, webhook_deliveries, audit_events`);
    await dispose();

    const { headers, text } = received.at(-1) ?? { headers: { "weft-signature": "" }, text: "" };
    const [, time = "", mac] = /^t=(\d+),v1=(\w+)$/.exec(String(headers["weft-signature"])) ?? [];
    expect(mac).toBe(createHmac("sha256", rotated.body.secret).update(`${time}.${text}`).digest("hex"));
    expect(rotated.body.secret).not.toBe(hook.secret);
    for (const secret of [hook.secret, rotated.body.secret]) {
      expect(rows).not.toContain(secret);
      expect(JSON.stringify((await owner.get("/api/v1/webhooks")).body)).not.toContain(secret);
      expect(server.logText()).not.toContain(secret);
    }
  });

  test("API-30 is not changed by who saw another version", async () => {
    const hook = await make();
    const { headers } = await owner.get(`/api/v1/webhooks/${hook.id}`);
    const tag = headers.get("etag") ?? "";

    const first = await owner.call("PATCH", `/api/v1/webhooks/${hook.id}`, { name: "one" }, { "if-match": tag });
    const second = await owner.call("PATCH", `/api/v1/webhooks/${hook.id}`, { name: "two" }, { "if-match": tag });

    expect(first.body.name).toBe("one");
    expect(second.body).toMatchObject({ status: 412, code: "version_mismatch" });
  });

  test.each(["ftp://example.com/", "http://user:secret@example.com/", "https://example.com/#part", "nowhere"])(
    "cannot lead to %s",
    async (url) => {
      expect((await owner.post("/api/v1/webhooks", { name: "x", url })).body).toMatchObject({
        status: 422,
        code: "webhook_target_refused",
      });
    },
  );
});

describe("private targets are refused unless the operator allows them", () => {
  const options = { privateTargets: "refuse", timeoutMs: 10_000 } as const;
  const send = (url: string, addresses?: readonly string[]) =>
    sendWebhook({ url, body: "{}", headers: {} }, { ...options, ...(addresses && { resolve: async () => addresses }) });

  test.each([
    "http://127.0.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f.1:PORT/",
    "http://[::1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://localhost:PORT/",
    "http://169.254.169.254/latest/meta-data",
  ])("%s", async (url) => {
    const result = await send(url.replace("PORT", new URL(receiverUrl).port));

    expect(result).toMatchObject({ ok: false, error: expect.stringMatching(/not public/) });
    expect(received).toEqual([]);
  });

  test("a public name that leads to a private address", async () => {
    const url = `http://hooks.example:${new URL(receiverUrl).port}/`;

    expect(await send(url, ["127.0.0.1", "10.0.0.1"])).toMatchObject({ ok: false });
    expect(received).toEqual([]);
  });

  test("a name is resolved once: the connection goes to the address that was checked", async () => {
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return asked === 1 ? ["127.0.0.1"] : ["192.0.2.1"];
    };
    const url = `http://hooks.example:${new URL(receiverUrl).port}/hook`;

    const result = await sendWebhook(
      { url, body: "{}", headers: {} },
      { privateTargets: "allow", timeoutMs: 10_000, resolve },
    );

    expect(result).toMatchObject({ ok: true });
    expect(asked).toBe(1);
    expect(received.at(0)?.headers.host).toBe(new URL(url).host);
  });
});
