import { describe, expect, test } from "vitest";
import { parseLoginSearch, parsePeerSearch, parsePeersSearch, parseSetupSearch, paths } from "./routes.ts";

const sources = import.meta.glob<string>("./**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });

/** A string that starts like a path of ours, or a `to`/`href` that is not a name from routes.ts. */
const HAND_WRITTEN = /["'`]\/(?:networks|setup|login|access|peers|trpc|api)\b|\b(?:to|href)=\{?["'`]\//;

/** Files in which a path may be written: the list itself, and tests. */
const ALLOWED = /\/routes\.ts$|\.test\.tsx?$|\/testing\//;

function offenders(files: Readonly<Record<string, string>>): string[] {
  return Object.entries(files)
    .filter(([file, text]) => !ALLOWED.test(file) && HAND_WRITTEN.test(text))
    .map(([file]) => file);
}

describe("paths", () => {
  test("are written in routes.ts and nowhere else", () => {
    expect(Object.keys(sources).length).toBeGreaterThan(80);
    expect(offenders(sources)).toEqual([]);
  });

  test.each([
    '<Link to="/networks/$networkId">',
    "<a href={'/anything'}>",
    "navigate({ to: `/setup` })",
    'const url = "/trpc";',
  ])("a hand-written path is found in %s", (text) => {
    expect(offenders({ "./features/x/page.tsx": text })).toEqual(["./features/x/page.tsx"]);
  });

  test("are all different", () => {
    expect(new Set(Object.values(paths)).size).toBe(Object.keys(paths).length);
  });
});

describe("searches", () => {
  test.each([
    { search: { q: "web", sort: "-rate", show: "online" }, kept: { q: "web", sort: "-rate", show: "online" } },
    { search: { q: "", sort: "evil", show: "all" }, kept: {} },
    { search: { q: 7, sort: ["name"], show: null }, kept: {} },
  ])("the peer table keeps what it understands of $search", ({ search, kept }) => {
    expect(parsePeersSearch(search)).toEqual(kept);
  });

  test.each([
    { range: 300, kept: { range: "300" } },
    { range: "60", kept: { range: "60" } },
    { range: 61, kept: {} },
  ])("the chart takes a range of $range", ({ range, kept }) => {
    expect(parsePeerSearch({ range })).toEqual(kept);
  });

  test("the setup token survives being read as a number", () => {
    expect(parseSetupSearch({ setup: 123_456 })).toEqual({ setup: "123456" });
  });

  test.each(["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"])(
    "SEC-50 the login does not lead to %s",
    (next) => {
      expect(parseLoginSearch({ next })).toEqual({});
    },
  );

  test("the login leads back to a page of the dashboard", () => {
    expect(parseLoginSearch({ next: "/networks/net_1/peers?q=web" })).toEqual({ next: "/networks/net_1/peers?q=web" });
  });
});
