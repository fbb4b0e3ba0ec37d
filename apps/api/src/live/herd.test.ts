import { expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import { connectAgent, makeIdentity } from "../testing/simulated-agent.ts";

const COUNT = 40;

test(`B3 CP-35 ${COUNT} nodes join at once, lose their server and come back: all get maps, nobody is shown offline`, async () => {
  const first = await createTestApp();
  const { owner, network } = await setUp(first.url);
  const { key } = await makeKey(owner, network.id);
  const identities = Array.from({ length: COUNT }, makeIdentity);
  const joined = await Promise.all(identities.map((identity) => connectAgent(first.url, { joinKey: key, identity })));
  const whole = ({ peers }: { readonly peers: readonly unknown[] }) => peers.length === COUNT - 1;
  const maps = await Promise.all(joined.map((agent) => agent.until(whole)));

  const second = await first.restart();
  const again = createRestClient(second.url, { cookie: owner.cookie() ?? "" });
  const seen = new Set<string>();
  const isBack = new AbortController();
  const polling = (async () => {
    while (!isBack.signal.aborted) {
      const { body } = await again.get(`/api/v1/networks/${network.id}/peers`);
      for (const { presence } of body.items) seen.add(presence);
    }
  })();
  const back = await Promise.all(identities.map((identity) => connectAgent(second.url, { identity })));
  await Promise.all(back.map((agent) => agent.until(whole)));
  isBack.abort();
  await polling;

  expect(new Set(maps.map(({ self }) => self.ipv4)).size).toBe(COUNT);
  expect(seen).not.toContain("offline");
  for (const agent of [...joined, ...back]) agent.cut();
  await second.dispose();
}, 180_000);
