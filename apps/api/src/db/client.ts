import { drizzle } from "drizzle-orm/postgres-js";
import type { PostgresJsQueryResultHKT } from "drizzle-orm/postgres-js";
import type { PgDatabase } from "drizzle-orm/pg-core";
import postgres from "postgres";
import type { Secret } from "@weft/protocol";
import * as schema from "./schema/index.ts";

/** Runs statements: the database itself or a transaction on it. */
export type Executor = PgDatabase<PostgresJsQueryResultHKT, typeof schema>;

/** How to reach a PostgreSQL. */
export type DatabaseAddress =
  | { readonly kind: "external"; readonly url: Secret<string> }
  | {
      readonly kind: "embedded";
      readonly socketFolder: string;
      readonly user: string;
      readonly password: string;
      readonly database: string;
    };

/** A connection pool, and one connection that listens. */
export type Database = {
  readonly db: Executor;
  /** Plain statements, for what Drizzle has no words for. */
  readonly sql: postgres.Sql;
  /** True when the database answers. */
  readonly isAlive: () => Promise<boolean>;
  readonly dispose: () => Promise<void>;
};

export type DatabaseOptions = {
  readonly connectionsMax?: number;
  /** Sees every statement; for tests that count them. */
  readonly onStatement?: (statement: string) => void;
};

/** Opens a pool; connections are made when they are needed. */
export function connectDatabase(address: DatabaseAddress, options: DatabaseOptions = {}): Database {
  const { onStatement } = options;
  const settings = {
    max: options.connectionsMax ?? CONNECTIONS_MAX,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    onnotice: () => undefined,
    connection: { application_name: "weft" },
    ...(onStatement && { debug: (_connection: number, statement: string) => onStatement(statement) }),
  };
  const sql =
    address.kind === "external"
      ? postgres(address.url.expose(), settings)
      : postgres({
          ...settings,
          host: address.socketFolder,
          port: 5432,
          user: address.user,
          password: address.password,
          database: address.database,
        });
  return {
    db: drizzle(sql, { schema }),
    sql,
    isAlive: () =>
      sql`select 1`.then(
        () => true,
        () => false,
      ),
    dispose: () => sql.end({ timeout: 2 }),
  };
}

/** True for the violation of a unique index or constraint called `name`. */
export function isDuplicate(error: unknown, name: string): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof postgres.PostgresError) return cause.code === "23505" && cause.constraint_name === name;
  }
  return false;
}

const CONNECTIONS_MAX = 8;
const CONNECT_TIMEOUT_SECONDS = 10;
