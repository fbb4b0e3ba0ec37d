import { formatJoinKey, makeToken } from "@weft/protocol";
import { aServerKey } from "@weft/protocol/testing";
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";

import { aStatus } from "../testing/a-status.ts";
import { debugBundle } from "./debug-bundle.ts";
import { createLog } from "./log.ts";

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
          log: [`{"event":"x","fields":"${tokens[1]?.expose()} ${joinKey}"}`],
        }),
      ),
    );

    for (const token of tokens) expect(text).not.toContain(token.expose());
    expect(text).not.toContain(joinKey.split(".").at(-1));
    expect(text).not.toContain("hunter2");
    expect(text).toContain('"WEFT_LOG":"debug"');
    expect(text).toContain("[token]");
  });

  test("shows the values of the agent's own settings, of others beside them the names alone", () => {
    const environment = {
      WEFT_MTU: "1280",
      WEFT_ADMIN_PASSWORD: "hunter2",
      WEFT_SETUP_TOKEN: "not to be seen",
      HOME: "/root",
    };

    expect(debugBundle(sources({ environment })).environment).toEqual({
      WEFT_MTU: "1280",
      WEFT_ADMIN_PASSWORD: "[not shown]",
      WEFT_SETUP_TOKEN: "[not shown]",
    });
  });

  test("holds what was logged, also when no file has it", () => {
    const log = createLog(
      () => undefined,
      () => 0,
    );
    log.info("started", { pid: 7 });

    expect(debugBundle(sources({ log: log.recent() })).log).toEqual([
      '{"time":"1970-01-01T00:00:00.000Z","level":"info","event":"started","pid":7}',
    ]);
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
  readonly log?: readonly string[];
}): Parameters<typeof debugBundle>[0] {
  const files = new Map([
    ["/proc/sys/kernel/osrelease", "6.1.0\n"],
    ["/proc/sys/net/core/rmem_max", "212992\n"],
  ]);
  return {
    status: { ...STATUS, problems: own.problem === undefined ? [] : [own.problem] },
    map: { peers: 2, routes: 0, filterRules: 1, peersWithPresharedKey: 0 },
    log: own.log ?? [],
    environment: own.environment ?? {},
    readFile: (path) => files.get(path) ?? null,
  };
}

const STATUS = aStatus();
