import { randomBytes } from "node:crypto";
import { networkIds, Secret } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Executor } from "../db/client.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import { connectAgent } from "../testing/simulated-agent.ts";
import { createLiveHub } from "./live-hub.ts";

let server: TestApp;
beforeAll(async () => void (server = await createTestApp()));
afterAll(() => server.dispose());

test("a peer that joins while its network is being loaded is not missed", async () => {
  const { owner, network } = await setUp(server.url);
  const { key: joinKey } = await makeKey(owner, network.id);
  if (!networkIds.is(network.id)) throw new Error("a network has an id");
  const database = server.database.connect();
  const { held, release } = holdTransactions(database.db);
  const hub = createLiveHub({
    database: { ...database, db: held },
    identity: {
      key: server.app.deps.server.key,
      privateKey: new Secret(""),
      sign: () => new Uint8Array(64),
      deriveKey: () => new Uint8Array(32),
    },
    clock: server.app.deps.clock,
    random: (length) => randomBytes(length),
    onError: () => undefined,
  });

  const loading = hub.catchUp(network.id);
  await release.reached;
  const agent = await connectAgent(server.url, { joinKey });
  const { peerId } = await agent.next("welcome");
  const after = hub.catchUp(network.id);
  release.go();

  expect((await loading)?.id).toBe(network.id);
  expect((await after)?.mirror.peers().has(peerId)).toBe(true);
  agent.leave();
  await hub.dispose();
  await database.dispose();
});

/** The first transaction reads at once, and hands its result out when it is released. */
function holdTransactions(db: Executor) {
  let go = () => {};
  let reach = () => {};
  const gone = new Promise<void>((resolve) => (go = resolve));
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const transaction = async (...args: Parameters<Executor["transaction"]>): Promise<unknown> => {
    const result: unknown = await db.transaction(...args);
    reach();
    await gone;
    return result;
  };
  const held = new Proxy(db, {
    get: (target, name): unknown => (name === "transaction" ? transaction : Reflect.get(target, name)),
  });
  return { held, release: { go: () => go(), reached } };
}
