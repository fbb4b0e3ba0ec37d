import { describe, expect, test, beforeEach, afterEach } from "vitest";
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { encodeServerFrame, formatJoinKey, makeToken } from "@weft/protocol";
import { aServerKey, countingRandom } from "@weft/protocol/testing";
import { WebSocketServer } from "ws";

import { AGENT_VERSION } from "../settings/agent-version.ts";
import { mtuPolicy } from "../settings/interface-mtu.ts";
import { cipherWish, engineTuning, laneWish } from "../settings/engine-tuning.ts";
import { stateDirectory } from "../settings/paths.ts";
import { parseServerUrl, streamUrl } from "../settings/server-url.ts";
import { aStatus } from "../testing/a-status.ts";
import { startControlPlane } from "../testing/control-plane.ts";
import { aStateDirectory } from "../testing/fixtures.ts";
import { statusLines } from "./commands/status.ts";
import { exitCodeOf } from "./exit-codes.ts";
import { bytesText, durationText, table } from "./output.ts";
import { runCli } from "./program.ts";

let state: ReturnType<typeof aStateDirectory>;
beforeEach(() => {
  state = aStateDirectory();
});
afterEach(() => state.remove());

let obstacle: string | null = null;
beforeEach(() => {
  obstacle = null;
});

async function run(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const streams = { out: (text: string) => void (out += text), err: (text: string) => void (err += text) };
  const code = await runCli(words, {
    streams,
    runForeground: () => Promise.resolve(0),
    whyNoTunnel: () => obstacle,
    installation: { program: "weft.js", record: null },
    confirm: () => Promise.resolve("nobody"),
  });
  return { code, out, err };
}
const here = (): string[] => ["--state-dir", state.paths.directory];
const goodKey = formatJoinKey(makeToken("enr", countingRandom(1)), aServerKey(1));

describe("the command line", () => {
  test("version is that of the package", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };

    expect(AGENT_VERSION).toBe(version);
    expect(JSON.parse((await run("version", "--json")).out)).toMatchObject({ version, protocol: 2 });
    expect((await run("version")).out).toContain(`weft ${version}`);
  });

  test("help lists every verb and every exit code", async () => {
    const { code, out } = await run("help");

    expect(code).toBe(0);
    for (const verb of ["join", "up", "down", "leave", "status", "ping", "uninstall", "version"])
      expect(out).toMatch(new RegExp(`^ {2}${verb} `, "m"));
    for (let exitCode = 0; exitCode <= 11; exitCode += 1) expect(out).toMatch(new RegExp(`^ +${exitCode} {2}\\w`, "m"));
  });

  test.each([
    { name: "an unknown verb", words: ["fly"], code: 2 },
    { name: "a missing argument", words: ["join", "http://x"], code: 2 },
    { name: "a port that is none", words: ["join", "http://x", goodKey, "--port", "70000"], code: 2 },
    { name: "a count of zero", words: ["ping", "x", "-c", "0"], code: 2 },
  ])("$name ends with the usage code", async ({ words, code }) => {
    const outcome = await run(...words);

    expect(outcome.code).toBe(code);
    expect(outcome.err).not.toBe("");
  });

  test.each([
    { name: "status before joining", words: ["status"], code: 3, error: "not_joined" },
    { name: "up before joining", words: ["up"], code: 3, error: "not_joined" },
    { name: "leave before joining", words: ["leave"], code: 3, error: "not_joined" },
    { name: "down without a daemon", words: ["down"], code: 4, error: "not_running" },
    { name: "ping before joining", words: ["ping", "x"], code: 3, error: "not_joined" },
    {
      name: "a profile into a folder that does not exist",
      words: ["profile", "--output", "/no/such/file"],
      code: 2,
      error: "usage",
    },
    { name: "a debug file where a folder is", words: ["debug", "--output", "/"], code: 2, error: "usage" },
    { name: "an option that does not exist", words: ["status", "--no-such-option"], code: 2, error: "usage" },
    { name: "a verb that does not exist", words: ["no-such-verb"], code: 2, error: "usage" },
    {
      name: "a damaged key",
      words: ["join", "http://127.0.0.1:9", `${goodKey.slice(0, 20)}x${goodKey.slice(21)}`],
      code: 2,
      error: "bad_key",
    },
    {
      name: "a key without its second half",
      words: ["join", "http://127.0.0.1:9", goodKey.split(".")[0]!],
      code: 2,
      error: "bad_key",
    },
    { name: "uninstall in a clone", words: ["uninstall", "--yes"], code: 1, error: "not_installed" },
    { name: "a URL that is none", words: ["join", "ftp://x", goodKey], code: 2, error: "bad_url" },
    {
      name: "a bad name",
      words: ["join", "http://127.0.0.1:9", goodKey, "--name", "Not A Name"],
      code: 2,
      error: "usage",
    },
    {
      name: "a bad interface name",
      words: ["join", "http://127.0.0.1:9", goodKey, "--interface", "a/b"],
      code: 2,
      error: "usage",
    },
    {
      name: "a server that is not there",
      words: ["join", "http://127.0.0.1:9", goodKey],
      code: 5,
      error: "unreachable",
    },
  ])("$name: exit code $code, one JSON object, one sentence", async ({ words, code, error }) => {
    const json = await run(...words, "--json", ...here());
    const text = await run(...words, ...here());

    expect([json.code, text.code]).toEqual([code, code]);
    expect(JSON.parse(json.out)).toMatchObject({ error: { code: error, message: expect.any(String) } });
    expect(json.out.trim().split("\n")).toHaveLength(1);
    expect(text.out).toBe("");
    expect(text.err).toMatch(/^weft: \S/);
  });

  test.each([
    { said: "text", error: "bad_frame", code: 5 },
    { said: encodeServerFrame({ kind: "ping", token: 1n }), error: "protocol", code: 6 },
  ])("what answers with $error ends the join with exit code $code", async ({ said, error, code }) => {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    server.on("connection", (socket) => socket.send(said));
    await once(server, "listening");
    const bound = server.address();
    const port = typeof bound === "object" ? bound?.port : undefined;

    const outcome = await run("join", `http://127.0.0.1:${port}`, goodKey, "--json", ...here());

    expect(JSON.parse(outcome.out)).toMatchObject({ error: { code: error } });
    expect(outcome.code).toBe(code);
    server.close();
  });

  test("a stream that somebody changes on the way counts as a server out of reach", () => {
    expect(exitCodeOf("tampered")).toBe(5);
  });

  test("a refused enrolment says what to do and leaves no membership", async () => {
    const plane = await startControlPlane();
    plane.faults = {
      refuse: { kind: "bye", reason: "unauthorised", detail: "enrolment_key_used_up", message: "", retryAfterMs: 0 },
    };

    const outcome = await run("join", plane.url, plane.joinKey, ...here());

    expect(outcome.code).toBe(6);
    expect(outcome.err).toContain("used as often as it may be");
    expect((await run("up", ...here())).code).toBe(3);
    await plane.stop();
  });

  test("a host that may not make tunnels is told before its key is spent", async () => {
    const plane = await startControlPlane();
    obstacle = "needs root";

    const outcome = await run("join", plane.url, plane.joinKey, ...here());

    expect(outcome).toMatchObject({ code: 7, err: "weft: needs root\n" });
    expect(plane.streams).toHaveLength(0);
    expect((await run("up", ...here())).code).toBe(3);
    await plane.stop();
  });

  test("AP-3 a key that pins another server is refused before anything is told", async () => {
    const plane = await startControlPlane();

    const outcome = await run("join", plane.url, goodKey, ...here());

    expect(outcome.code).toBe(6);
    expect(outcome.err).toContain("another key");
    expect(plane.streams).toHaveLength(0);
    await plane.stop();
  });

  test("join in the foreground saves the membership and runs the daemon; a second join is refused", async () => {
    const plane = await startControlPlane();

    const first = await run(
      "join",
      plane.url,
      plane.joinKey,
      "--foreground",
      "--interface",
      "weft9",
      "--port",
      "0",
      ...here(),
    );
    const second = await run("join", plane.url, plane.joinKey, "--foreground", ...here());

    expect(first).toEqual({ code: 0, out: "", err: "" });
    expect(JSON.parse(readFileSync(state.paths.membership, "utf8"))).toMatchObject({
      serverUrl: plane.url,
      interfaceName: "weft9",
      listenPort: 0,
    });
    expect(second.code).toBe(8);
    await plane.stop();
  });

  test("leave without a reachable server needs --force", async () => {
    const plane = await startControlPlane();
    await run("join", plane.url, plane.joinKey, "--foreground", ...here());
    await plane.stop();

    expect((await run("leave", ...here())).code).toBe(5);
    expect(JSON.parse((await run("leave", "--force", "--json", ...here())).out)).toEqual({
      left: true,
      serverTold: false,
    });
    expect((await run("up", ...here())).code).toBe(3);
  });

  test("leave with the daemon stopped tells the server itself", async () => {
    const plane = await startControlPlane();
    await run("join", plane.url, plane.joinKey, "--foreground", ...here());

    expect(JSON.parse((await run("leave", "--json", ...here())).out)).toEqual({ left: true, serverTold: true });
    await plane.stop();
  });
});

describe("text", () => {
  test("sizes and durations are short", () => {
    expect([0, 1023, 1536, 5 * 1024 ** 3].map(bytesText)).toEqual(["0 B", "1023 B", "1.5 KiB", "5.0 GiB"]);
    expect([999, 61_000, 3_600_000, 90_061_000].map(durationText)).toEqual(["0 s", "1 min 1 s", "1 h", "1 d 1 h"]);
  });

  test("columns line up", () => {
    expect(
      table([
        ["a", "bb", "c"],
        ["aaa", "b", "cc"],
      ]),
    ).toEqual(["a    bb  c", "aaa  b   cc"]);
  });

  test("status shows problems, the server's reason and every peer", () => {
    const view = aStatus({
      uptimeMs: 61_000,
      server: {
        url: "http://s",
        state: "waiting",
        reason: "connection refused",
        retryInMs: 5_000,
        clockSkewMs: -3_600_000,
      },
      peers: [
        {
          id: "peer_y",
          name: "other",
          publicKey: "rMwYC7ZxG5vQpQ2nJ0oQb7yC0pXk1n0m6uJ7p4h2k1E=",
          ipv4: "10.0.0.2",
          ipv6: null,
          endpoint: null,
          session: "none",
          lastHandshakeAgeMs: null,
          profile: "pending",
          cipher: "chacha20-poly1305",
          elision: "off",
          lanes: 1,
          lanesInUse: 1,
          lanesNote: null,
          pathMtu: { state: "unknown" },
          rxBytes: 0,
          txBytes: 2048,
          drops: {},
        },
      ],
      engine: {
        restarts: 0,
        lastFailure: null,
        drops: { badTag: 3 },
        totals: {},
        syscallsPerMegabyte: 41.5,
        stages: [],
      },
      problems: ["self: no"],
    });

    const text = statusLines(view).join("\n");

    expect(text).toContain("waiting: connection refused, next try in 5 s");
    expect(text).toMatch(/problem +self: no/);
    expect(text).toMatch(/system calls +41\.5 per MB/);
    expect(text).toMatch(/dropped +badTag 3/);
    expect(text).toMatch(/other +10\.0\.0\.2 +- +none +never +0 B +2\.0 KiB/);
    expect(statusLines({ ...view, peers: [] }).at(-1)).toBe("no peers yet");
  });
});

describe("settings", () => {
  test.each([
    ["http://127.0.0.1:7400", "ws://127.0.0.1:7400/agent/v1?nonce=N"],
    ["https://weft.example/", "wss://weft.example/agent/v1?nonce=N"],
    ["https://example.org/mesh/", "wss://example.org/mesh/agent/v1?nonce=N"],
    ["http://[2001:db8::1]:80", "ws://[2001:db8::1]/agent/v1?nonce=N"],
    ["unix:/run/weft.sock", "ws+unix:/run/weft.sock:/agent/v1?nonce=N"],
    ["unix:///run/weft.sock", "ws+unix:/run/weft.sock:/agent/v1?nonce=N"],
  ])("%s leads to %s", (url, stream) => {
    const parsed = parseServerUrl(url);

    expect(parsed.ok && streamUrl(parsed.value, "N")).toBe(stream);
  });

  test.each(["", "weft.example", "ftp://x", "ws://x", "http://", "unix:relative", "unix:/a:b", "javascript:alert(1)"])(
    "%j is no server",
    (url) => {
      expect(parseServerUrl(url).ok).toBe(false);
    },
  );

  test("the option wins over the environment, the environment over the default", () => {
    expect(stateDirectory("/opt", { WEFT_STATE_DIR: "/env" })).toBe("/opt");
    expect(stateDirectory(undefined, { WEFT_STATE_DIR: "/env" })).toBe("/env");
    expect(stateDirectory(undefined, { WEFT_STATE_DIR: "/env" }, "/installed")).toBe("/env");
    expect(stateDirectory(undefined, {}, "/installed")).toBe("/installed");
    expect(stateDirectory(undefined, {})).toMatch(/weft$/);
  });

  test("the engine's tuning comes from the environment and is checked", () => {
    expect(engineTuning({})).toEqual({ ok: true, value: {} });
    expect(
      engineTuning({
        WEFT_TUN_OFFLOAD: "off",
        WEFT_UDP_GSO: "off",
        WEFT_UDP_GRO: "auto",
        WEFT_SHARDS: "2",
        WEFT_NICENESS: "-5",
      }),
    ).toEqual({
      ok: true,
      value: { tunOffload: "off", udpGso: "off", udpGro: "auto", shards: 2, niceness: -5 },
    });
    expect(engineTuning({ WEFT_CHECKSUM_ELISION: "off" })).toEqual({ ok: true, value: { checksumElision: "off" } });
    expect(cipherWish({})).toEqual({ ok: true, value: "auto" });
    expect(cipherWish({ WEFT_CIPHER: "aes-256-gcm" })).toEqual({ ok: true, value: "aes-256-gcm" });
    expect(laneWish({})).toEqual({ ok: true, value: "auto" });
    expect(laneWish({ WEFT_LANES: "off" })).toEqual({ ok: true, value: "off" });
    expect(laneWish({ WEFT_LANES: "4" })).toEqual({ ok: true, value: 4 });
    for (const text of ["0", "9", "four", "4.0", "-1", "08"]) {
      expect(laneWish({ WEFT_LANES: text })).toMatchObject({ ok: false, error: { code: "bad_environment" } });
    }
    expect(cipherWish({ WEFT_CIPHER: "rot13" })).toMatchObject({ ok: false, error: { code: "bad_environment" } });
    expect(engineTuning({ WEFT_SHARDS: "many" })).toMatchObject({ ok: false, error: { code: "bad_environment" } });
    expect(engineTuning({ WEFT_TUN_OFFLOAD: "on" })).toMatchObject({ ok: false });
  });

  test.each([
    { variable: "WEFT_TUN_OFFLOAD", text: "tcp", tuning: { tunOffload: "tcp" } },
    { variable: "WEFT_UDP_GSO", text: "off", tuning: { udpGso: "off" } },
    { variable: "WEFT_UDP_GRO", text: "off", tuning: { udpGro: "off" } },
    { variable: "WEFT_UDP_BATCH", text: "off", tuning: { udpBatch: "off" } },
    { variable: "WEFT_IO", text: "auto", tuning: { io: "auto" } },
    { variable: "WEFT_IO", text: "epoll", tuning: { io: "epoll" } },
    { variable: "WEFT_IO", text: "io_uring", tuning: { io: "io_uring" } },
    { variable: "WEFT_GSO_MAX_SEGMENTS", text: "128", tuning: { gsoMaxSegments: 128 } },
    { variable: "WEFT_GSO_EQUAL_TAIL", text: "avoid", tuning: { gsoEqualTail: "avoid" } },
    { variable: "WEFT_GRO_FLOWS", text: "1024", tuning: { groFlows: 1_024 } },
    { variable: "WEFT_SOCKET_BUFFER_BYTES", text: "1000000", tuning: { socketBufferBytes: 1_000_000 } },
    { variable: "WEFT_TUN_QUEUE_LEN", text: "10000", tuning: { tunQueueLen: 10_000 } },
    { variable: "WEFT_UDP_PORTS_NEVER_MERGED", text: "4789, 51820", tuning: { udpPortsNeverMerged: [4_789, 51_820] } },
    { variable: "WEFT_UDP_PORTS_NEVER_MERGED", text: "none", tuning: { udpPortsNeverMerged: [] } },
  ])("FBK-09 P-55 P-56 every offload has a switch of its own: $variable=$text", ({ variable, text, tuning }) => {
    expect(engineTuning({ [variable]: text })).toEqual({ ok: true, value: tuning });
  });

  test.each([
    { WEFT_UDP_BATCH: "on" },
    { WEFT_IO: "off" },
    { WEFT_GSO_MAX_SEGMENTS: "1" },
    { WEFT_GSO_MAX_SEGMENTS: "129" },
    { WEFT_GSO_EQUAL_TAIL: "never" },
    { WEFT_GRO_FLOWS: "0" },
    { WEFT_TUN_QUEUE_LEN: "0" },
    { WEFT_UDP_PORTS_NEVER_MERGED: "4789,,1" },
    { WEFT_UDP_PORTS_NEVER_MERGED: "65536" },
    { WEFT_SOCKET_BUFFER_BYTES: "much" },
  ])("a switch with a value it does not have is refused by its name: %o", (environment) => {
    const read = engineTuning(environment);

    expect(read).toMatchObject({ ok: false, error: { code: "bad_environment" } });
    expect(read.ok ? "" : read.error.message).toContain(Object.keys(environment)[0]);
  });

  test.each([
    { environment: {}, policy: {} },
    { environment: { WEFT_MTU: "1400" }, policy: { mtu: 1_400 } },
    { environment: { WEFT_MTU: "auto" }, policy: { mtuMax: 9_000 } },
    { environment: { WEFT_MTU: "auto", WEFT_MTU_MAX: "4000" }, policy: { mtuMax: 4_000 } },
  ])("P-86 the MTU of the interface can be set, freed and capped: $environment", ({ environment, policy }) => {
    expect(mtuPolicy(environment)).toEqual({ ok: true, value: policy });
  });

  test.each([{ WEFT_MTU: "575" }, { WEFT_MTU: "large" }, { WEFT_MTU: "auto", WEFT_MTU_MAX: "65476" }])(
    "an MTU that cannot be is refused: %o",
    (environment) => {
      expect(mtuPolicy(environment)).toMatchObject({ ok: false, error: { code: "bad_environment" } });
    },
  );
});
