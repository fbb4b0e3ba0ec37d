import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { askDaemon } from "./daemon-client.ts";

test.each([
  {
    name: "leaves the request unread",
    react: (socket: Socket) => setTimeout(() => socket.destroy(), 50),
    pauseOnConnect: true,
  },
  {
    name: "reads the request and closes",
    react: (socket: Socket) => socket.once("data", () => socket.end()),
    pauseOnConnect: false,
  },
])("a daemon that ends and $name counts as not running", async ({ react, pauseOnConnect }) => {
  const folder = await mkdtemp(join(tmpdir(), "weft-client-"));
  const path = join(folder, "weft.sock");
  const server = createServer({ pauseOnConnect }, react).listen(path);
  await once(server, "listening");

  const reply = await askDaemon(path, { method: "status" }).answer;
  server.close();
  await rm(folder, { recursive: true });

  expect(reply).toMatchObject({ ok: false, error: { code: "not_running" } });
});
