import { expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";

test("F-G10 a fresh server without any key or setting has scoped tokens, approval, metrics, audit and flow logs", async () => {
  const server = await createTestApp();
  const { owner, network } = await setUp(server.url);
  const path = `/api/v1/networks/${network.id}`;

  const made = await owner.post("/api/v1/tokens", { name: "narrow", scopes: ["audit:read"] });
  const narrow = createRestClient(server.url, { token: made.body.token });
  const allowed = await narrow.get("/api/v1/audit-events");
  const refused = await narrow.get(`${path}/peers`);
  expect([made.status, allowed.status, refused.status]).toEqual([201, 200, 403]);
  expect(allowed.body.items.map(({ action }: { readonly action: string }) => action)).toContain("tokens.create");

  const { key } = await makeKey(owner, network.id, { approval: "required" });
  const agent = await connectAgent(server.url, { joinKey: key });
  const { peerId } = await agent.next("welcome");
  expect((await owner.get(`/api/v1/peers/${peerId}`)).body.state).toBe("pending");
  expect((await owner.post(`/api/v1/peers/${peerId}/approve`)).body.state).toBe("active");
  await eventually("the peer in the metrics", async () => {
    const text = await server.app.metrics();
    return text.includes(`network_id="${network.id}",presence="online"} 1`) || undefined;
  });

  const recording = await owner.call("PATCH", path, { flowSampling: 1 }, { "if-match": "*" });
  expect(recording).toMatchObject({ status: 200, body: { flowSampling: 1 } });
  expect(await owner.get(`${path}/flow-logs`)).toMatchObject({ status: 200, body: { items: [] } });
  agent.leave();
  await server.dispose();
});

test("F-D1 owner, people, roles and tokens work with no identity provider at all", async () => {
  const server = await createTestApp();
  const { owner } = await setUp(server.url);
  expect(JSON.stringify((await owner.get("/api/v1/login-methods")).body)).not.toContain("idp_");
  expect((await owner.get("/api/v1/identity-providers")).body.items).toEqual([]);

  const invite = await owner.post("/api/v1/invites", { role: "operator", login: "grace" });
  const secret = new URL(invite.body.link).hash.slice(1);
  const person = { login: "grace", password: "a long password" };
  const accepted = await createRestClient(server.url).post("/api/v1/invites/accept", { secret, ...person });
  expect(accepted.status).toBe(201);
  const browser = createRestClient(server.url);
  expect((await browser.post("/api/v1/sessions", { ...person, password: "another" })).status).toBe(401);
  expect((await browser.post("/api/v1/sessions", person)).status).toBe(201);
  const answers = await Promise.all([
    browser.post("/api/v1/tokens", { name: "mine", scopes: ["peers:read"] }),
    browser.get("/api/v1/networks"),
    browser.get("/api/v1/invites"),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 403]);
  await server.dispose();
});

test("F-C9 an administrator chooses ranges of both families, and every peer gets its address in each", async () => {
  const server = await createTestApp();
  const { owner } = await setUp(server.url);
  const ranges = { ipv4Range: "10.99.8.0/29", ipv6Range: "fd12:3456:789a::/64" };
  const made = await owner.post("/api/v1/networks", { name: "chosen", ...ranges });
  expect(made).toMatchObject({ status: 201, body: ranges });
  const { key } = await makeKey(owner, made.body.id);
  const agents = await Promise.all(Array.from({ length: 3 }, () => connectAgent(server.url, { joinKey: key })));
  const selves = await Promise.all(agents.map(async (agent) => (await agent.until(() => true)).self));

  for (const { ipv4, ipv6, ipv4Range, ipv6Range } of selves) {
    expect({ ipv4Range, ipv6Range }).toEqual(ranges);
    expect(ipv4).toMatch(/^10\.99\.8\.[1-6]$/);
    expect(ipv6).toMatch(/^fd12:3456:789a::/);
  }
  expect(new Set(selves.flatMap(({ ipv4, ipv6 }) => [ipv4, ipv6])).size).toBe(6);
  // The range is small on purpose: what does not fit is refused, and nobody gets an address twice.
  const more = await Promise.all(Array.from({ length: 4 }, () => connectAgent(server.url, { joinKey: key })));
  const full = more.map(({ frames }) => frames.some(({ kind }) => kind === "welcome")).filter(Boolean);
  expect(full).toHaveLength(3);
  for (const agent of [...agents, ...more]) agent.leave();
  await server.dispose();
});
