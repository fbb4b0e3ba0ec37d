import { formatJoinKey, makeToken } from "@weft/protocol";
import { aNetworkMap, aPublicKey, aServerKey } from "@weft/protocol/testing";
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";

import { aStatus } from "../testing/a-status.ts";
import { debugBundle, withoutPlaces } from "./debug-bundle.ts";
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

  test("AP-73 whatever is secret, wherever it stands, is not in it; what is public stays", () => {
    const secrets = seededSecrets();
    const lines = [`{"event":"peer_keys_added","keys":"web-1 ${PUBLIC_KEY}"}`];
    const seeded = secrets.map(
      ({ written }) =>
        `{"event":"x","message":${JSON.stringify(written)},"nested":${JSON.stringify(JSON.stringify({ written }))}}`,
    );
    const problem = secrets.map(({ written }) => written).join(" and ");
    const environment = Object.fromEntries(secrets.map(({ written }, index) => [`WEFT_OWN_${index}`, written]));

    const bundle = debugBundle(
      sources({ problem, log: [...lines, ...seeded], environment: { ...environment, WEFT_LOG: secrets[0]?.written } }),
    );
    const redacted = withoutPlaces(bundle, aNetworkMap(), {
      serverUrl: "https://hub.example.org:7400",
      host: "build-7",
    });

    for (const { hidden } of secrets) {
      for (const one of [bundle, redacted]) expect(JSON.stringify(one)).not.toContain(hidden);
    }
    expect(JSON.stringify(bundle)).toContain(PUBLIC_KEY);
    expect(JSON.stringify(bundle.log).match(/\[(key|token|secret|password)\]/g)?.length).toBeGreaterThanOrEqual(
      2 * secrets.length,
    );
  });

  test("AP-73 by choice there is no address, public key or name in it either, in whatever text they stand", () => {
    const map = aNetworkMap();
    const places = [
      map.self.name,
      map.self.networkName,
      ...map.peers.flatMap(({ name, ipv4, ipv6, publicKey }) => [name, ipv4, ipv6, publicKey]),
      "build-7",
      "hub.example.org",
      "203.0.113.9:51820",
      "[2001:db8::9]:51820",
      "198.51.100.0/24",
      "fe80::1",
    ].flatMap((place) => place ?? []);
    const log = places.flatMap((place) => [
      `{"event":"x","peer":"${place}"}`,
      `{"message":"lost ${place}, again","deep":${JSON.stringify(JSON.stringify({ place }))}}`,
      `{"message":"${place.toUpperCase()}"}`,
    ]);
    const bundle = debugBundle(sources({ log, problem: `cannot reach ${places.join(" ")}` }));

    const text = JSON.stringify(
      withoutPlaces(bundle, map, { serverUrl: "https://hub.example.org:7400", host: "build-7" }),
    );

    for (const place of places) expect(text.toLowerCase()).not.toContain(place.toLowerCase());
    expect(text).toContain("[name]");
    expect(text).toContain("[address]");
    expect(text).toContain('"kernel":"6.1.0"');
  });
});

/** Every form in which a secret can come into a log or a setting, and the part of it that must not come out. */
function seededSecrets(): readonly { readonly written: string; readonly hidden: string }[] {
  const key = (): string => randomBytes(32).toString("base64");
  const word = (): string => randomBytes(9).toString("hex");
  const random = (length: number): Uint8Array => Uint8Array.from(randomBytes(length));
  const token = makeToken("enr", random);
  const joinKey = formatJoinKey(token, aServerKey());
  const [wireguard, preshared, hex, pem] = [key(), key(), randomBytes(32).toString("hex"), key()];
  const [password, bearer, field, login] = [word(), word(), word(), word()];
  return [
    { written: `PrivateKey = ${wireguard}`, hidden: wireguard },
    { written: `handshake with ${preshared} failed`, hidden: preshared },
    { written: hex, hidden: hex },
    { written: [framed("BEGIN"), pem, framed("END")].join("\n"), hidden: pem },
    { written: token.expose(), hidden: token.expose() },
    { written: `join https://hub ${joinKey}`, hidden: joinKey },
    { written: `Authorization: Bearer ${bearer}`, hidden: bearer },
    { written: `https://olga:${login}@hub.example.org/`, hidden: login },
    { written: `password=${password}`, hidden: password },
    { written: `{"api_key": "${field}"}`, hidden: field },
  ];
}

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
    publicKeys: [PUBLIC_KEY],
    readFile: (path) => files.get(path) ?? null,
  };
}

const STATUS = aStatus();
const PUBLIC_KEY = aPublicKey(7);

/** A line around a key, written so that this file holds none. */
function framed(word: string): string {
  return `-----${word} PRIVATE KEY-----`;
}
