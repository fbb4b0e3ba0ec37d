import { CAPABILITY, parseConcealLines } from "@weft/protocol";
import type { NetworkMap, PeerId } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readNetwork } from "../../db/changes-repository.ts";
import { storedNetworkId } from "../../db/rows.ts";
import { createConcealRound } from "../../jobs/watch-conceal.ts";
import type { ReportedHandshakes } from "../../jobs/watch-conceal.ts";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent } from "../../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner, network } = await setUp(server.url));
});
afterAll(() => server.dispose());

const profiles = () => `/api/v1/networks/${network.id}/conceal-profiles`;
const plan = () => `/api/v1/networks/${network.id}/conceal`;
const make = async (name: string, source: object): Promise<Json> =>
  (await owner.post(profiles(), { name, ...source })).body;

type Node = { readonly agent: SimulatedAgent; readonly id: PeerId };

async function join(capabilities: readonly string[] = [CAPABILITY.conceal]): Promise<Node> {
  const agent = await connectAgent(server.url, { joinKey: (await makeKey(owner, network.id)).key, capabilities });
  const { peerId } = await agent.next("welcome");
  await agent.until(() => true);
  return { agent, id: peerId };
}

async function leave(nodes: readonly Node[]): Promise<void> {
  for (const { agent, id } of nodes) {
    agent.leave();
    await owner.call("DELETE", `/api/v1/peers/${id}`);
  }
}

const versionIn = ({ self }: NetworkMap): number | null => self.conceal?.version ?? null;

/** What the plan's newest state was told to be, without waiting for clocks. */
async function calm(): Promise<void> {
  await owner.call("PUT", plan(), { profileId: null, separation: "accept" });
}

test("B-35 profiles are drawn anew each time, shown without their key, versioned, listed and removed", async () => {
  const strong = await make("strong", { preset: "strong" });
  const other = await make("other", { preset: "strong" });

  expect(strong).toMatchObject({ version: 1, advice: [], versions: [{ version: 1, origin: "strong" }] });
  expect(strong.keys).toMatchObject({ header_protection_key: "[secret]", random_trailers: "1" });
  expect(strong.keys.s1 === other.keys.s1 && strong.keys.s2 === other.keys.s2 && strong.keys.i1 === other.keys.i1).toBe(
    false,
  );
  expect(await owner.post(profiles(), { name: "STRONG", preset: "light" })).toMatchObject({ status: 409 });

  const path = `/api/v1/conceal-profiles/${strong.id}`;
  const tag = (await owner.get(path)).headers.get("etag") ?? "";
  const second = await owner.call("PATCH", path, { preset: "mimic-dns" }, { "if-match": tag });
  const stale = await owner.call("PATCH", path, { preset: "light" }, { "if-match": tag });
  expect(second.body).toMatchObject({ version: 2, versions: [{ version: 2, origin: "mimic-dns" }, { version: 1 }] });
  expect(stale.status).toBe(412);

  const listed = await owner.get(`${profiles()}?limit=1&count=true`);
  expect(listed.body).toMatchObject({ items: [{ name: "other" }], total: 2 });
  const rest = await owner.get(`${profiles()}?limit=1&cursor=${encodeURIComponent(listed.body.nextCursor)}`);
  expect(rest.body).toMatchObject({ items: [{ name: "strong", version: 2 }], nextCursor: null });

  const events = (await owner.get(`/api/v1/audit-events?limit=20`)).body.items;
  expect(events.map(({ action }: Json) => action)).toEqual(
    expect.arrayContaining(["conceal.create", "conceal.update"]),
  );
  expect(JSON.stringify(events)).not.toContain("header_protection_key");
  for (const { id } of [strong, other]) {
    expect((await owner.call("DELETE", `/api/v1/conceal-profiles/${id}`)).status).toBe(204);
  }
});

test("CFG-01 CFG-18 files of AmneziaWG come in and go out, and what is wrong is named by key and range", async () => {
  const made = await make("file", { preset: "mimic-sip" });
  const { conf } = (await owner.get(`/api/v1/conceal-profiles/${made.id}/conf`)).body;
  const again = await make("again", { conf });
  const same = (await owner.get(`/api/v1/conceal-profiles/${again.id}/conf`)).body;

  expect(conf).toContain("HeaderProtectionKey = ");
  expect(again.versions).toMatchObject([{ origin: "file" }]);
  expect(same).toEqual({ version: 1, conf });

  const wrong = [
    { source: { conf: "[Interface]\nS1 = 65360\n" }, detail: "s1: must be a whole number from 0 to 65359" },
    { source: { conf: "[Interface]\nS4 = 200\n" }, detail: "s4: leaves packets of 1220 bytes" },
    { source: { conf: "[Interface]\nJc = 3\n" }, detail: "jmin: must be 1 to 65507 when jc is above 0" },
    { source: { conf, preset: "light" }, detail: "conf: name a preset or send a file, not both" },
    { source: {}, detail: "preset: name a preset" },
  ];
  for (const { source, detail } of wrong) {
    const refused = await owner.post(profiles(), { name: "wrong", ...source });
    expect(refused).toMatchObject({ status: 422, body: { code: "conceal_fault" } });
    expect(refused.body.detail).toContain(detail);
  }
  for (const { id } of [made, again]) await owner.call("DELETE", `/api/v1/conceal-profiles/${id}`);
});

test("a profile reaches the maps of its stage only, separated pairs are refused with their names, and a roll-back undoes it", async () => {
  const group = (await owner.post(`/api/v1/networks/${network.id}/groups`, { name: "pilots" })).body;
  const [pilot, member, old] = [await join(), await join(), await join([])];
  await owner.call("PUT", `/api/v1/groups/${group.id}/peers/${pilot.id}`);
  const profile = await make("staged", { preset: "strong" });
  const rollOut = (input: object, headers = {}) =>
    owner.call("PUT", plan(), { profileId: profile.id, ...input }, headers);

  const staged = await rollOut({ groupIds: [group.id] });
  expect(staged).toMatchObject({ status: 409, body: { code: "conceal_separates" } });
  expect(staged.body.detail).toContain("2 pairs of nodes that may talk would not understand each other");
  expect((await rollOut({})).body.detail).toContain("2 pairs");

  const tag = (await owner.get(plan())).headers.get("etag") ?? "";
  const accepted = await rollOut({ groupIds: [group.id], separation: "accept" }, { "if-match": tag });
  expect(accepted.body).toMatchObject({ state: "watched", base: null, next: { name: "staged", version: 1 } });
  expect((await rollOut({ separation: "accept" }, { "if-match": tag })).status).toBe(412);
  const map = await pilot.agent.until((each) => versionIn(each) === 1);
  const read = parseConcealLines(map.self.conceal?.settings.expose() ?? "");
  expect(read.ok && read.value.randomTrailers).toBe("on");
  expect([member, old].map(({ agent }) => versionIn(agent.map()))).toEqual([null, null]);

  await rollOut({ separation: "accept" });
  await member.agent.until((each) => versionIn(each) === 1);
  expect(versionIn(old.agent.map())).toBeNull();
  const nodes = (await owner.get(`${plan()}/nodes`)).body.items;
  expect(nodes.find(({ peerId }: Json) => peerId === old.id)).toMatchObject({ state: "unable" });
  expect(nodes.find(({ peerId }: Json) => peerId === pilot.id)).toMatchObject({ wanted: { version: 1 } });
  expect((await owner.call("DELETE", `/api/v1/conceal-profiles/${profile.id}`)).body).toMatchObject({ code: "in_use" });

  const back = await owner.post(`${plan()}/roll-back`);
  expect(back.body).toMatchObject({ state: "rolled-back", reason: "somebody asked for it" });
  await pilot.agent.until((each) => versionIn(each) === null);
  expect((await owner.post(`${plan()}/roll-back`)).body).toMatchObject({ code: "conceal_not_rolling" });
  await calm();
  await owner.call("DELETE", `/api/v1/conceal-profiles/${profile.id}`);
  await leave([pilot, member, old]);
});

test("what changes nothing that both ends share needs no stage, and is refused nowhere", async () => {
  const nodes = [await join(), await join([])];
  const decoys = await make("decoys", { conf: "[Interface]\nJc = 4\nJmin = 40\nJmax = 90\nI1 = <r 40>\n" });

  expect((await owner.call("PUT", plan(), { profileId: decoys.id })).body).toMatchObject({ state: "watched" });
  await calm();
  await owner.call("DELETE", `/api/v1/conceal-profiles/${decoys.id}`);
  await leave(nodes);
});

test("handshakes that stop succeeding take everybody back by themselves, and those that go on let the profile stay", async () => {
  const nodes = [await join(), await join()];
  const [first, second] = nodes.map(({ id }) => id).toSorted();
  if (!first || !second) throw new Error("two nodes have joined");
  const profile = await make("watched", { preset: "light" });
  const { db, dispose } = server.database.connect();
  const id = storedNetworkId(network.id);
  /** One round of the server, `seconds` after the plan began; the newest handshake was at `handshakeAt`. */
  const round = async (seconds: number, handshakeAt: number): Promise<Json> => {
    const contents = await readNetwork(db, id);
    if (!contents?.network.conceal) throw new Error("the network has a plan");
    const nowMs = contents.network.conceal.startedAtMs + seconds * 1_000;
    const agesMs = new Map([[second, (seconds - handshakeAt) * 1_000]]);
    const reports = new Map<PeerId, ReportedHandshakes>([[first, { atMs: nowMs, agesMs }]]);
    await createConcealRound({
      db,
      networks: () => [{ network: contents.network, peers: new Map(contents.peers.map((peer) => [peer.id, peer])) }],
      handshakesOf: (peerId) => reports.get(peerId),
      nowMs: () => nowMs,
    })();
    return (await owner.get(plan())).body;
  };

  await owner.call("PUT", plan(), { profileId: profile.id });
  await Promise.all(nodes.map(({ agent }) => agent.until((map) => versionIn(map) === 1)));
  expect(await round(50, -10)).toMatchObject({ state: "watched" });
  const back = await round(70, -10);
  expect(back).toMatchObject({ state: "rolled-back", base: null });
  expect(back.reason).toContain("1 of 1 connected pairs made no handshake");
  await Promise.all(nodes.map(({ agent }) => agent.until((map) => versionIn(map) === null)));
  const [event] = (await owner.get(`/api/v1/audit-events?limit=1`)).body.items;
  expect(event).toMatchObject({ action: "conceal.rollBack", actor: { kind: "server" } });

  await owner.call("PUT", plan(), { profileId: profile.id });
  expect(await round(100, 3)).toMatchObject({ state: "watched" });
  expect(await round(181, 3)).toMatchObject({ state: "kept" });
  const next = await owner.call("PUT", plan(), { profileId: null });
  expect(next.body).toMatchObject({ base: { name: "watched", version: 1 }, next: null });
  await dispose();
  await leave(nodes);
});
