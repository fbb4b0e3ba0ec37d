import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { expect, test } from "vitest";

const SOURCE = join(import.meta.dirname, "..");

/** Places that write text into a statement, each for a reason: nothing of a caller is ever part of it. */
const ALLOWED: Readonly<Record<string, string>> = {
  "db/lists.ts": "names columns and types of ours",
  "db/migrate.ts": "runs the files of migrations as they are",
};

test("SEC-36 values reach the database as parameters only: no other place puts text into a statement", async () => {
  const found = new Set<string>();
  for (const entry of await readdir(SOURCE, { recursive: true, withFileTypes: true })) {
    const path = relative(SOURCE, join(entry.parentPath, entry.name));
    if (!entry.isFile() || !path.endsWith(".ts") || path.endsWith(".test.ts") || path.startsWith("testing/")) continue;
    if (/\bsql\.raw\(|\.unsafe\(/.test(await readFile(join(SOURCE, path), "utf8"))) found.add(path);
  }

  expect([...found].toSorted()).toEqual(Object.keys(ALLOWED));
});
