import { createServer } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { standing } from "../domain/release-version.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import { setUp } from "../testing/rest-client.ts";
import { connectAgent } from "../testing/simulated-agent.ts";
import { makeKey } from "../testing/rest-client.ts";
import { fetchFeed } from "./fetch-feed.ts";
import { newerRelease, readFeed } from "./release-feed.ts";
import { createUpdateWatch } from "./update-watch.ts";

const DAY_MS = 24 * 3_600_000;
let folder = "";
let made = 0;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "weft-updates-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

const release = (version: string, change: object = {}) => ({
  version,
  url: `https://example.org/${version}`,
  ...change,
});
const feedOf = (...releases: readonly object[]) => JSON.stringify({ releases });

/** A watch over a file, with a clock that the test moves. */
function aWatch(text: string, random = 0) {
  made += 1;
  const feedFile = join(folder, `feed-${made}`);
  const state = { nowMs: 1_700_000_000_000, errors: 0, feedFile };
  const make = (place = made) =>
    createUpdateWatch({
      feed: pathToFileURL(feedFile),
      version: "1.2.0",
      file: join(folder, `kept-${place}`),
      clock: { nowMs: () => state.nowMs },
      random: (length) => new Uint8Array(length).fill(random),
      onError: () => (state.errors += 1),
    });
  return { state, make, write: () => writeFile(feedFile, text) };
}

describe("F-F11 what a feed says", () => {
  test.each([
    { version: "1.2.3", ours: "1.2.3", is: "same" },
    { version: "1.10.0", ours: "1.9.9", is: "newer" },
    { version: "0.9.0", ours: "1.0.0", is: "older" },
    { version: "1.0.0-rc.1", ours: "1.0.0", is: "older" },
    { version: "1.0.0-rc.10", ours: "1.0.0-rc.9", is: "newer" },
    { version: "1.0.0-rc", ours: "1.0.0-1", is: "newer" },
    { version: "1.0.0+build.7", ours: "1.0.0", is: "same" },
    { version: "dev", ours: "1.0.0", is: "unknown" },
  ])("F-F11 $version is $is beside $ours", ({ version, ours, is }) => {
    expect(standing(version, ours)).toBe(is);
  });

  test("F-F11 the newest release counts, drafts do not, and a hole that was closed on the way is said", () => {
    const releases = readFeed(
      feedOf(
        release("1.3.0"),
        release("1.2.1", { severity: "security" }),
        release("2.0.0-rc.1"),
        release("1.1.0", { severity: "security" }),
      ),
    );
    if (!releases.ok) throw new Error(releases.error);

    expect(newerRelease(releases.value, "1.2.0")).toMatchObject({ version: "1.3.0", severity: "security" });
    expect(newerRelease(releases.value, "1.2.1")).toMatchObject({ version: "1.3.0", severity: "normal" });
    expect(newerRelease(releases.value, "1.3.0")).toBeUndefined();
  });

  test.each([
    { name: "no JSON", text: "<html>", why: "no JSON" },
    { name: "no releases", text: "{}", why: "releases" },
    { name: "a version that is none", text: feedOf(release("newest")), why: "releases/0/version" },
    {
      name: "a link that is none of the web",
      text: feedOf({ ...release("9.0.0"), url: "javascript:alert(1)" }),
      why: "releases/0/url",
    },
    {
      name: "a link in the clear",
      text: feedOf({ ...release("9.0.0"), url: "http://example.org" }),
      why: "releases/0/url",
    },
    {
      name: "too many releases",
      text: feedOf(...Array.from({ length: 201 }, () => release("1.0.0"))),
      why: "releases",
    },
    { name: "a summary that is a book", text: feedOf(release("9.0.0", { summary: "x".repeat(301) })), why: "summary" },
  ])("F-F11 $name is refused with the reason", ({ text, why }) => {
    const read = readFeed(text);

    expect(read.ok ? "" : read.error).toContain(why);
  });
});

describe("F-F11 when a feed is asked", () => {
  test("F-F11 once in a while after the start, then not before a day has passed, also across restarts", async () => {
    const { state, make, write } = aWatch(feedOf(release("1.3.0")), 128);
    await write();
    const watch = make();
    await watch.turn();
    expect(watch.notice()).toMatchObject({ state: "unknown", checkedAt: null });
    state.nowMs += 15 * 60_000;
    await watch.turn();
    expect(watch.notice()).toMatchObject({ state: "available", release: { version: "1.3.0" } });
    const { checkedAt } = watch.notice();

    const again = make();
    state.nowMs += DAY_MS;
    await again.turn();
    expect(again.notice()).toMatchObject({ state: "available", checkedAt });
    // Its share of two hours comes on top of the day.
    state.nowMs += 2 * 3_600_000;
    await again.turn();
    expect(again.notice().checkedAt).not.toBe(checkedAt);
  });

  test("F-F11 a feed that fails is asked again the next day; what was known stays, and the reason is shown", async () => {
    const { state, make, write } = aWatch(feedOf(release("1.3.0")));
    await write();
    const watch = make();
    await watch.turn();
    await rm(state.feedFile);
    state.nowMs += DAY_MS;
    await watch.turn();
    expect(watch.notice()).toMatchObject({ state: "available", failure: expect.stringContaining("ENOENT") });
    await watch.turn();
    expect(state.errors).toBe(1);
  });

  test("F-F11 without a feed nothing is read, written or asked", async () => {
    const watch = createUpdateWatch({
      feed: undefined,
      version: "1.0.0",
      file: join(folder, "none", "kept"),
      clock: { nowMs: () => 0 },
      random: (length) => new Uint8Array(length),
      onError: (error) => {
        throw error;
      },
    });
    await watch.turn();

    expect(watch.notice()).toEqual({ state: "off", release: null, checkedAt: null, failure: null });
  });

  test("F-F11 an answer that is endless, late, a redirect or an error is cut off with its reason", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/moved") response.writeHead(302, { location: "/feed" }).end();
      else if (request.url === "/broken") response.writeHead(500).end();
      else if (request.url === "/endless") {
        const more = () => {
          while (response.write("x".repeat(10_000)));
        };
        response.on("drain", more);
        more();
      } else if (request.url === "/feed") response.end("{}");
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const bound = server.address();
    const port = typeof bound === "object" && bound ? bound.port : 0;
    const get = (path: string) =>
      fetchFeed(new URL(`http://127.0.0.1:${port}${path}`), { bytesMax: 50_000, timeoutMs: 500, version: "1" });
    try {
      expect(await get("/feed")).toEqual({ ok: true, value: "{}" });
      expect(await get("/moved")).toMatchObject({ error: "the feed was answered with 302" });
      expect(await get("/broken")).toMatchObject({ error: "the feed was answered with 500" });
      expect(await get("/endless")).toMatchObject({ error: "the feed is longer than 50000 bytes" });
      expect(await get("/silent")).toMatchObject({ error: "no answer in time" });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test.each([
    "http://example.org/feed",
    "ftp://example.org",
    "https://user:secret@example.org",
    "feed.json",
    "javascript:1",
  ])("F-F11 %s is no feed", (feed) => {
    expect(() => readConfig({ WEFT_UPDATE_FEED: feed })).toThrow(/WEFT_UPDATE_FEED: expected https/);
  });
});

test("F-F11 the API shows the notice, and which agents are older than the server", async () => {
  const feed = join(folder, "app-feed");
  await writeFile(feed, feedOf(release("99.0.0", { summary: "Big." })));
  let nowMs = Date.now();
  const app = await createTestApp({ environment: { WEFT_UPDATE_FEED: feed }, clock: { nowMs: () => nowMs } });
  try {
    const { owner, network } = await setUp(app.url);
    expect((await owner.get("/api/v1/instance")).body.update).toMatchObject({ state: "unknown" });
    nowMs += 3_600_000;
    await app.app.lookForUpdates();
    expect((await owner.get("/api/v1/instance")).body.update).toMatchObject({
      state: "available",
      release: { version: "99.0.0", summary: "Big.", severity: "normal" },
    });

    const agent = await connectAgent(app.url, { joinKey: (await makeKey(owner, network.id)).key });
    await agent.next("welcome");
    const { body } = await owner.get(`/api/v1/networks/${network.id}/agent-versions`);
    expect(body.versions).toEqual([
      { agentVersion: expect.any(String), peerCount: 1, standing: expect.stringMatching(/older|same/) },
    ]);
    const { agentVersion } = body.versions[0];
    const list = async (version: string) =>
      (await owner.get(`/api/v1/networks/${network.id}/peers?agentVersion=${version}`)).body.items.length;
    expect([await list(agentVersion), await list("0.0.0-none")]).toEqual([1, 0]);
    agent.cut();
  } finally {
    await app.dispose();
  }
});
