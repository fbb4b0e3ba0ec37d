import { pino } from "pino";
import { expect, test } from "vitest";
import { createApp } from "../app.ts";
import { readConfig } from "../config.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../testing/rest-client.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { connectAgent } from "../testing/simulated-agent.ts";

test("D11 F-F10 SC-9 a change made on one server reaches the nodes of another one on the same database", async () => {
  const first = await createTestApp();
  const { owner, network } = await setUp(first.url);
  const { key } = await makeKey(owner, network.id);
  const second = await createApp({
    config: readConfig({ WEFT_DATA_DIR: await temporaryFolder() }),
    log: pino({ level: "silent" }),
    open: async (_source, options) => ({
      ...first.database.connect(options),
      // Replicas share the server key through the database, as with an external one.
      kind: "external",
      lost: new Promise(() => undefined),
    }),
  });
  await second.server.listen({ host: "127.0.0.1", port: 0 });
  const address = second.server.server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const here = await connectAgent(first.url, { joinKey: key });
  const pinned = key.split(".")[0];
  const there = await connectAgent(url, { joinKey: `${pinned}.${key.split(".")[1]}` });
  const { peerId } = await here.next("welcome");

  await there.until(({ peers }) => peers.some(({ id }) => id === peerId));
  const cookie = owner.cookie();
  const viaSecond = createRestClient(url, cookie === undefined ? {} : { cookie });
  await viaSecond.call("PATCH", `/api/v1/peers/${(await there.next("welcome")).peerId}`, { name: "renamed-there" });
  const map = await here.until(({ peers }) => peers.some(({ name }) => name === "renamed-there"));

  expect(map.peers).toHaveLength(1);
  here.cut();
  there.cut();
  await second.dispose();
  await first.dispose();
});
