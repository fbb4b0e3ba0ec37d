import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { setUp } from "../testing/rest-client.ts";
import { eventually } from "../testing/simulated-agent.ts";
import { listenForChanges } from "./change-listener.ts";

let server: TestApp;
beforeAll(async () => void (server = await createTestApp()));
afterAll(() => server.dispose());

test("when the check after a lost connection fails, it is tried again until every network was read", async () => {
  const { network } = await setUp(server.url);
  const database = server.database.connect();
  let reconnected: (() => void) | undefined;
  let failures = 0;
  const errors: string[] = [];
  const read: string[] = [];
  const listener = await listenForChanges({
    database: {
      ...database,
      sql: new Proxy(database.sql, {
        get: (target, name): unknown =>
          name === "listen"
            ? (...[channel, onNotify, onListen]: Parameters<typeof target.listen>) => {
                reconnected = onListen;
                return target.listen(channel, onNotify);
              }
            : Reflect.get(target, name),
      }),
    },
    checkHistory: async () => {
      if (failures === 0) return;
      failures -= 1;
      throw new Error("the database is starting up");
    },
    catchUp: async (id) => void read.push(id),
    known: () => [],
    onError: (event) => void errors.push(event),
  });
  read.length = 0;
  failures = 2;

  reconnected?.();
  await eventually("the network to be read", () => (read.length > 0 ? true : undefined));

  expect(errors).toEqual(["networks_not_read", "networks_not_read"]);
  expect(read).toEqual([network.id]);
  await listener.dispose();
  await database.dispose();
});
