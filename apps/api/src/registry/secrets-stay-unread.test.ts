import { expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import { tokenOf } from "../testing/people.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import { connectAgent } from "../testing/simulated-agent.ts";
import { allOperations, isOperation } from "./operations.ts";

test("SEC-63 no reading operation shows a token, key, password or secret of anybody, not even to the owner", async () => {
  const app = await createTestApp();
  const { owner, network } = await setUp(app.url);
  const enrolmentKey = await makeKey(owner, network.id);
  const agent = await connectAgent(app.url, { joinKey: enrolmentKey.key });
  const { peerId } = await agent.next("welcome");
  const { token, userId, client } = await tokenOf(app, { role: "admin" });
  const own = (await owner.post("/api/v1/tokens", { name: "mine", scopes: ["peers:read"] })).body;
  const webhook = (
    await owner.post("/api/v1/webhooks", { name: "siem", url: "https://siem.example/in", actions: ["peers.update"] })
  ).body;
  const cookie = owner.cookie()?.split("=")[1] ?? "";
  const secrets = { enrolment: enrolmentKey.key, token, own: own.token, webhook: webhook.secret, cookie };
  const ids: Record<string, string> = {
    networkId: network.id,
    peerId,
    userId,
    enrolmentKeyId: enrolmentKey.id,
    tokenId: own.id,
    webhookId: webhook.id,
    version: "1",
  };
  for (const [name, secret] of Object.entries(secrets))
    expect({ name, length: secret?.length > 15 }).toEqual({ name, length: true });

  const paths = allOperations.flatMap((operation) =>
    isOperation(operation) && operation.contract.kind === "query" && operation.contract.rest.method === "GET"
      ? [{ name: operation.name, path: filled(operation.contract.rest.path, ids) }]
      : [],
  );
  const read: string[] = [];
  const shown: string[] = [];
  for (const reader of [owner, client]) {
    for (const { name, path } of paths) {
      const answer = await reader.get(`/api/v1${path}`);
      if (answer.status === 200) read.push(name);
      const text = JSON.stringify(answer.body);
      shown.push(
        ...Object.entries(secrets).flatMap(([kind, secret]) => (text.includes(secret) ? [`${name}: ${kind}`] : [])),
      );
    }
  }

  expect(read).toEqual(
    expect.arrayContaining(["tokens.list", "enrolmentKeys.list", "webhooks.list", "peers.get", "auditEvents.list"]),
  );
  expect(shown).toEqual([]);
  expect((await createRestClient(app.url).get("/api/v1/tokens")).status).toBe(401);
  agent.cut();
  await app.dispose();
}, 60_000);

function filled(path: string, ids: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_whole, name: string) => ids[name] ?? "none");
}
