import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { AGENT_VARIABLES } from "./agent-variables.ts";

test("the list has every variable that the settings read, and README.md has a row for each", () => {
  const sources = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "agent-variables.ts")
    .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"));
  const read = sources.flatMap((text) => [...text.matchAll(/"(WEFT_[A-Z_]+)"/g)].flatMap(([, name]) => name ?? []));
  const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
  const rows = [...readme.matchAll(/^\| `(WEFT_[A-Z_]+)` \|/gm)].flatMap(([, name]) => name ?? []);

  expect(read.length).toBeGreaterThan(10);
  expect(AGENT_VARIABLES).toEqual(expect.arrayContaining(read));
  expect(rows.toSorted()).toEqual([...AGENT_VARIABLES].toSorted());
});
