import type { CountersReport, PeerId } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../db/client.ts";
import { findPeer, insertPeer } from "../db/peers-repository.ts";
import { pruneTraffic } from "../db/traffic-repository.ts";
import { addressesAt } from "../domain/address-pool.ts";
import type { Peer } from "../domain/peer.ts";
import { parseTrafficKeep, TRAFFIC_KEEP } from "../domain/traffic-steps.ts";
import { aPeer } from "../testing/a-mirror.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { createTrafficBook } from "./traffic-book.ts";

const HOUR_MS = 3_600_000;
/** A full hour, so that every step begins with it. */
const START_MS = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
let nowMs = START_MS;
let server: TestApp;
let owner: RestClient;
let network: Json;
let database: Database;
let takeStatements: () => string[];
let made = 0;

beforeAll(async () => {
  server = await createTestApp({ clock: { nowMs: () => nowMs } });
  ({ owner, network } = await setUp(server.url));
  const statements: string[] = [];
  database = server.database.connect({ onStatement: (text) => void statements.push(text) });
  takeStatements = () => statements.splice(0);
});
afterAll(async () => {
  await database.dispose();
  await server.dispose();
});

/** A member that no stream belongs to: the server's own book leaves it alone. */
async function member(): Promise<Peer> {
  made += 1;
  const { db } = database;
  const { ipv4Range, ipv6Range } = network;
  const peer = { ...aPeer(made, []), networkId: network.id, ...addressesAt({ ipv4Range, ipv6Range }, BigInt(made)) };
  await insertPeer(db, peer);
  return peer;
}

/** The book of a server that just started: it knows of its peers what the database has. */
async function startedBook(...members: readonly Peer[]) {
  const book = createTrafficBook({ db: database.db, clock: { nowMs: () => nowMs }, lastSeenAt: () => null });
  const stored = await Promise.all(members.map(({ id }) => findPeer(database.db, id)));
  const sums = new Map<PeerId, { bytes: bigint; uptimeMs: number }>();
  return {
    flush: book.flush,
    /** Lets a node report so many bytes more than before, all received from `link`, and twice as many sent. */
    move(place: number, link: PeerId, bytes: bigint): void {
      const peer = stored[place];
      if (!peer) throw new Error("a member of the book");
      const before = sums.get(peer.id) ?? { bytes: 0n, uptimeMs: 0 };
      const now = { bytes: before.bytes + bytes, uptimeMs: before.uptimeMs + 1_000 };
      sums.set(peer.id, now);
      book.ingest(peer, report(now, link), { nowMs, isMember: () => true });
    },
  };
}

function report(
  { bytes, uptimeMs }: { readonly bytes: bigint; readonly uptimeMs: number },
  link: PeerId,
): CountersReport {
  return {
    counterEpoch: 77n,
    uptimeMs,
    peers: {
      peerIds: [link],
      rxBytes: [bytes],
      rxPackets: [1n],
      txBytes: [bytes * 2n],
      txPackets: [1n],
      drops: [],
      lastHandshakeAgeMs: [1],
      lastReceivedAgeMs: [1],
      sessionAgeMs: [1],
      endpoints: [null],
    },
    stages: [],
    totals: [],
    cpuMicroseconds: 0n,
    rssBytes: 1,
  };
}

const pointsOf = async (path: string, question = "step=10s") =>
  (await owner.get(`/api/v1/${path}/traffic?${question}`)).body.points;

test("AP-63 F-E6 SC-1 D3 traffic is written in steps of three widths, in one statement for all, and counts go on after a restart", async () => {
  const [one, two] = [await member(), await member()];
  const book = await startedBook(one, two);
  book.move(0, two.id, 100n);
  book.move(1, one.id, 10n);
  takeStatements();
  await book.flush();
  const written = takeStatements().filter((text) => /insert|update/i.test(text));
  await book.flush();
  const idle = takeStatements();
  book.move(0, two.id, 1n);
  nowMs += 10_000;
  await book.flush();
  nowMs += 60_000;
  book.move(0, two.id, 7n);
  await book.flush();

  const at = (ms: number) => new Date(START_MS + ms).toISOString();
  const rows = (...list: readonly (readonly [number, string])[]) =>
    list.map(([ms, rxBytes]) => ({ at: at(ms), rxBytes, txBytes: String(BigInt(rxBytes) * 2n) }));
  const expected = {
    "10s": rows([0, "100"], [10_000, "1"], [70_000, "7"]),
    "1m": rows([0, "101"], [60_000, "7"]),
    "1h": rows([0, "108"]),
  };
  expect([written.length, idle]).toEqual([2, []]);
  expect(await everyWidth(`peers/${one.id}`)).toEqual(expected);
  expect(await pointsOf(`networks/${network.id}`, "step=1h")).toEqual(rows([0, "118"]));

  // The same agent start reports its whole sum to the next server: only what is more than before is new.
  const next = await startedBook(one, two);
  next.move(0, two.id, 108n);
  await next.flush();
  expect(await everyWidth(`peers/${one.id}`)).toEqual(expected);
  next.move(0, two.id, 2n);
  await next.flush();
  expect(await pointsOf(`peers/${one.id}`, "step=1h")).toEqual(rows([0, "110"]));
  await owner.call("DELETE", `/api/v1/peers/${one.id}`);
  expect(await pointsOf(`networks/${network.id}`, "step=1h")).toEqual(rows([0, "120"]));
});

test("AP-63 what could not be written is written once, with the next round", async () => {
  const [one, two] = [await member(), await member()];
  const book = await startedBook(one, two);
  await database.sql`alter table traffic_history rename to traffic_elsewhere`;
  book.move(0, two.id, 50n);
  await expect(book.flush()).rejects.toThrow(/traffic_history/);
  book.move(0, two.id, 5n);
  const failed = (await owner.get(`/api/v1/peers/${one.id}`)).body.rxBytes;
  await database.sql`alter table traffic_elsewhere rename to traffic_history`;
  await Promise.all([book.flush(), book.flush()]);

  // Totals and history are written together or not at all.
  expect(failed).toBe("0");
  expect(await pointsOf(`peers/${one.id}`)).toMatchObject([{ rxBytes: "55", txBytes: "110" }]);
  expect((await owner.get(`/api/v1/peers/${one.id}`)).body.rxBytes).toBe("55");
});

test("AP-63 each width is kept for its time", async () => {
  const [one, two] = [await member(), await member()];
  const book = await startedBook(one, two);
  book.move(0, two.id, 3n);
  await book.flush();
  const left = async (laterMs: number) => {
    await pruneTraffic(database.db, TRAFFIC_KEEP, nowMs + laterMs);
    const widths = await everyWidth(`peers/${one.id}`);
    return Object.entries(widths).flatMap(([step, points]) => (points.length > 0 ? [step] : []));
  };

  expect(await left(0.9 * HOUR_MS)).toEqual(["10s", "1m", "1h"]);
  expect(await left(1.1 * HOUR_MS)).toEqual(["1m", "1h"]);
  expect(await left(7.1 * 24 * HOUR_MS)).toEqual(["1h"]);
  expect(await left(366 * 24 * HOUR_MS)).toEqual([]);
});

test("a span that is too long or runs backwards is refused with what to do", async () => {
  const ask = (question: string) => owner.get(`/api/v1/networks/${network.id}/traffic?${question}`);
  const from = new Date(nowMs - 40 * 24 * HOUR_MS).toISOString();

  expect((await ask(`step=10s&from=${from}`)).body).toMatchObject({ status: 400, errors: [{ pointer: "/from" }] });
  expect((await ask(`from=${from}&until=2000-01-01T00:00:00Z`)).status).toBe(400);
  expect((await ask(`step=1h&from=${from}`)).status).toBe(200);
});

test.each([
  ["1h/7d/365d", TRAFFIC_KEEP],
  ["2h/2h/2h", { "10s": 2 * HOUR_MS, "1m": 2 * HOUR_MS, "1h": 2 * HOUR_MS }],
  ["7d/1h/365d", undefined],
  ["0h/7d/365d", undefined],
  ["1h/7d", undefined],
  ["1w/7d/365d", undefined],
])("%s says how long steps are kept, or is refused", (text, keep) => {
  expect(parseTrafficKeep(text)).toEqual(keep);
});

async function everyWidth(path: string): Promise<Readonly<Record<string, Json[]>>> {
  return {
    "10s": await pointsOf(path, "step=10s"),
    "1m": await pointsOf(path, "step=1m"),
    "1h": await pointsOf(path, "step=1h"),
  };
}
