import { expect, test } from "vitest";

import { rawLinkProblems } from "./run-cases.ts";

function row(contender: string, median: number) {
  return { name: "tcp-1", contender, unit: "Gbit/s", median };
}

test("a tunnel well below the bare link is measured", () => {
  const rows = [row("raw veth", 20), row("weft", 4)];

  expect(rawLinkProblems({ name: "tcp-1", rawLink: "must be faster" }, rows)).toEqual([]);
});

test("a tunnel at the speed of the bare link is not", () => {
  const rows = [row("raw veth", 4.1), row("weft", 4), row("boringtun", 0.4)];

  const problems = rawLinkProblems({ name: "tcp-1", rawLink: "must be faster" }, rows);

  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain("weft");
});

test("cases that the link does not bound are not compared with it", () => {
  const rows = [row("raw veth", 1), row("weft", 1)];

  expect(rawLinkProblems({ name: "udp-64", rawLink: "is not a limit" }, rows)).toEqual([]);
});
