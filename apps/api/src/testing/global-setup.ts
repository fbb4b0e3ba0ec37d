import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbeddedDatabase } from "../db/embedded/embedded-database.ts";

/** How tests reach the cluster in which each file gets a database of its own. */
export type TestCluster =
  | { readonly kind: "external"; readonly url: string }
  | { readonly kind: "embedded"; readonly socketFolder: string; readonly user: string; readonly password: string };

declare module "vitest" {
  export interface ProvidedContext {
    readonly cluster: TestCluster;
  }
}

/** One real PostgreSQL for the whole run: the embedded one, or the one of WEFT_TEST_DATABASE_URL. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env["WEFT_TEST_DATABASE_URL"];
  if (url) {
    project.provide("cluster", { kind: "external", url });
    return async () => undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), "weft-test-"));
  const database = await startEmbeddedDatabase(folder);
  project.provide("cluster", { kind: "embedded", ...database.connection });
  return async () => {
    await database.dispose();
    await rm(folder, { recursive: true, force: true });
  };
}
