import { randomBytes } from "node:crypto";
import { Secret } from "@weft/protocol";
import { inject } from "vitest";
import { connectDatabase } from "../db/client.ts";
import type { Database, DatabaseAddress, DatabaseOptions } from "../db/client.ts";

/** An empty database of its own in the run's cluster. */
export type TestDatabase = {
  readonly address: DatabaseAddress;
  readonly connect: (options?: DatabaseOptions) => Database;
  readonly drop: () => Promise<void>;
};

export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  const admin = connectDatabase(addressOf("postgres"), { connectionsMax: 1 });
  await admin.sql.unsafe(`create database ${name}`);
  await admin.dispose();
  const address = addressOf(name);
  return {
    address,
    connect: (options) => connectDatabase(address, options),
    async drop() {
      const again = connectDatabase(addressOf("postgres"), { connectionsMax: 1 });
      await again.sql.unsafe(`drop database if exists ${name} with (force)`);
      await again.dispose();
    },
  };
}

function addressOf(database: string): DatabaseAddress {
  const cluster = inject("cluster");
  if (cluster.kind === "embedded") return { ...cluster, database };
  const url = new URL(cluster.url);
  url.pathname = `/${database}`;
  return { kind: "external", url: new Secret(url.toString()) };
}
