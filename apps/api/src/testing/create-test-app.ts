import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../app.ts";
import type { App, AppOptions } from "../app.ts";
import { readConfig } from "../config.ts";
import { migrate } from "../db/migrate.ts";
import { createLog } from "../log.ts";
import { createTestDatabase } from "./test-database.ts";
import type { TestDatabase } from "./test-database.ts";

/** The whole server on a real database and real sockets. */
export type TestApp = {
  readonly app: App;
  readonly url: string;
  readonly database: TestDatabase;
  /** Statements since the last call. */
  readonly takeStatements: () => string[];
  /** Everything the server logged. */
  readonly logText: () => string;
  /** Stops the server and starts another one on the same database and data folder. */
  readonly restart: () => Promise<TestApp>;
  readonly dispose: () => Promise<void>;
};

export type TestAppOptions = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: AppOptions["clock"];
  /** Lag of the event loop. None when left out: tests run their nodes in the server's own process, and slow it down. */
  readonly lagMs?: () => number;
  readonly strangersMax?: AppOptions["strangersMax"];
};

export async function createTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), "weft-data-"));
  return start({ options, database, folder });
}

async function start(place: {
  readonly options: TestAppOptions;
  readonly database: TestDatabase;
  readonly folder: string;
}): Promise<TestApp> {
  const { options, database, folder } = place;
  const config = readConfig({
    WEFT_DATA_DIR: folder,
    WEFT_LISTEN: "127.0.0.1:0",
    WEFT_RATE_LIMIT: "100000/100000",
    WEFT_WEB_DIR: join(folder, "no-web"),
    WEFT_AGENT_DIR: join(folder, "no-agent"),
    ...options.environment,
  });
  let logText = "";
  let statements: string[] = [];
  const log = createLog("debug", { write: (line) => void (logText += line) });
  const app = await createApp({
    config,
    log,
    lagMs: options.lagMs ?? (() => 0),
    ...(options.clock && { clock: options.clock }),
    ...(options.strangersMax && { strangersMax: options.strangersMax }),
    database: { onStatement: (statement) => void statements.push(statement) },
    open: async (_source, databaseOptions) => {
      const connected = database.connect(databaseOptions);
      await migrate(connected.sql);
      return { ...connected, kind: database.address.kind, lost: new Promise(() => undefined) };
    },
  });
  await app.server.listen({ host: "127.0.0.1", port: 0 });
  const bound = app.server.server.address();
  if (typeof bound !== "object" || bound === null) throw new Error("a listening server has an address");
  const url = `http://127.0.0.1:${bound.port}`;
  return {
    app,
    url,
    database,
    takeStatements() {
      const taken = statements;
      statements = [];
      return taken;
    },
    logText: () => logText,
    async restart() {
      await app.dispose();
      return start(place);
    },
    async dispose() {
      await app.dispose();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
