import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { aStateDirectory } from "../testing/fixtures.ts";
import { replaceFile } from "./files.ts";

let state: ReturnType<typeof aStateDirectory>;
beforeEach(() => {
  state = aStateDirectory();
});
afterEach(() => state.remove());

describe("replacing a file", () => {
  test("writes the whole content for its owner only and leaves no draft", () => {
    const path = join(state.paths.directory, "bundle.json");

    expect(replaceFile(path, "old").ok).toBe(true);
    expect(replaceFile(path, Uint8Array.of(110, 101, 119)).ok).toBe(true);

    expect(readFileSync(path, "utf8")).toBe("new");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(state.paths.directory)).toEqual(["bundle.json"]);
  });

  test("does not write through a link that waits under the name of a draft", () => {
    const path = join(state.paths.directory, "bundle.json");
    const victim = join(state.paths.directory, "victim");
    writeFileSync(victim, "untouched");
    symlinkSync(victim, `${path}.new-${process.pid}`);

    expect(replaceFile(path, "a bundle").ok).toBe(true);

    expect(readFileSync(victim, "utf8")).toBe("untouched");
    expect(readFileSync(path, "utf8")).toBe("a bundle");
  });

  test("leaves no draft behind when the file cannot be replaced", () => {
    const path = join(state.paths.directory, "missing", "bundle.json");

    expect(replaceFile(path, "x")).toMatchObject({ ok: false, error: { code: "missing" } });
    // A directory cannot be replaced by a file.
    expect(replaceFile(state.paths.directory, "x").ok).toBe(false);

    expect(existsSync(path)).toBe(false);
    const parent = join(state.paths.directory, "..");
    const own = state.paths.directory.slice(parent.length + 1);
    expect(readdirSync(parent).filter((name) => name.startsWith(`${own}.new-`))).toEqual([]);
  });
});
