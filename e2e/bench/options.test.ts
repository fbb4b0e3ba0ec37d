import { expect, test } from "vitest";

import { isWanted, parseOptions } from "./options.ts";

test("a suite alone takes the defaults", () => {
  expect(parseOptions(["tunnel"])).toEqual({
    ok: true,
    value: { suite: "tunnel", output: "table", cases: [], contenders: [], rounds: 3, seconds: 5 },
  });
});

test("a suite has its own usual number of rounds and seconds", () => {
  expect(parseOptions(["bars"])).toMatchObject({ ok: true, value: { rounds: 5, seconds: 4 } });
  expect(parseOptions(["bars", "--seconds", "1"])).toMatchObject({ ok: true, value: { rounds: 5, seconds: 1 } });
});

test("cases and contenders can be named several times", () => {
  const parsed = parseOptions([
    "tunnel",
    "--json",
    "--case",
    "tcp-1",
    "--case",
    "tcp-4",
    "--contender",
    "weft",
    "--rounds",
    "2",
  ]);

  expect(parsed.ok && parsed.value).toMatchObject({
    output: "json",
    cases: ["tcp-1", "tcp-4"],
    contenders: ["weft"],
    rounds: 2,
  });
});

test.each([
  { name: "no suite", argv: [] },
  { name: "an unknown suite", argv: ["speed"] },
  { name: "two suites", argv: ["tunnel", "latency"] },
  { name: "zero rounds", argv: ["tunnel", "--rounds", "0"] },
  { name: "a choice within the bars", argv: ["bars", "--contender", "weft"] },
  { name: "an unknown option", argv: ["tunnel", "--fast"] },
])("refuses $name with the usage line", ({ argv }) => {
  const parsed = parseOptions(argv);

  expect(parsed).toMatchObject({ ok: false, error: { code: "usage", message: expect.stringContaining("usage:") } });
});

test("an empty wish list wants everything", () => {
  expect(isWanted("weft", [])).toBe(true);
  expect(isWanted("weft", ["boringtun"])).toBe(false);
});
