import { formatJoinKey, makeToken } from "@weft/protocol";
import { aServerKey } from "@weft/protocol/testing";
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";

import { aStatus } from "../testing/a-status.ts";
import { debugBundle } from "./debug-bundle.ts";

describe("the debug bundle", () => {
  test("lists what is in it, part by part", () => {
    const bundle = debugBundle(sources({}));

    expect(Object.keys(bundle.contents).toSorted()).toEqual(
      Object.keys(bundle)
        .filter((part) => part !== "contents")
        .toSorted(),
    );
  });

  test("has no token and no join key, wherever one stands", () => {
    const random = (length: number): Uint8Array => Uint8Array.from(randomBytes(length));
    const tokens = (["pat", "svc", "enr"] as const).map((kind) => makeToken(kind, random));
    const [, , enrolment] = tokens;
    if (!enrolment) throw new Error("three tokens were made");
    const joinKey = formatJoinKey(enrolment, aServerKey());

    const text = JSON.stringify(
      debugBundle(
        sources({
          problem: `refused ${tokens[0]?.expose()}`,
          environment: { WEFT_JOIN: joinKey, WEFT_LOG: "debug", HOME: "/root", PGPASSWORD: "hunter2" },
          log: `{"event":"x","fields":"${tokens[1]?.expose()} ${joinKey}"}\n`,
        }),
      ),
    );

    for (const token of tokens) expect(text).not.toContain(token.expose());
    expect(text).not.toContain(joinKey.split(".").at(-1));
    expect(text).not.toContain("hunter2");
    expect(text).toContain('"WEFT_LOG":"debug"');
    expect(text).toContain("[token]");
  });

  test("holds the last lines of a long log only", () => {
    const log = Array.from({ length: 2_000 }, (_, line) => `line ${line} ${"x".repeat(5_000)}`).join("\n");

    const bundle = debugBundle(sources({ log }));

    const lines = Array.isArray(bundle.log) ? bundle.log.map(String) : [];
    expect(lines).toHaveLength(500);
    expect(lines.at(-1)?.slice(0, 9)).toBe("line 1999");
    expect(Math.max(...lines.map((line) => line.length))).toBe(2_000);
  });

  test("says what the kernel is like", () => {
    expect(debugBundle(sources({})).host).toMatchObject({
      kernel: "6.1.0",
      settings: { "net.core.rmem_max": "212992" },
    });
  });
});

function sources(own: {
  readonly problem?: string;
  readonly environment?: NodeJS.ProcessEnv;
  readonly log?: string;
}): Parameters<typeof debugBundle>[0] {
  const files = new Map([
    ["/log", own.log ?? ""],
    ["/proc/sys/kernel/osrelease", "6.1.0\n"],
    ["/proc/sys/net/core/rmem_max", "212992\n"],
  ]);
  return {
    status: { ...STATUS, problems: own.problem === undefined ? [] : [own.problem] },
    map: { peers: 2, routes: 0, filterRules: 1, peersWithPresharedKey: 0 },
    logPath: "/log",
    environment: own.environment ?? {},
    readFile: (path) => files.get(path) ?? null,
  };
}

const STATUS = aStatus();
