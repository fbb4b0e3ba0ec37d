import { parseIp, peerIds } from "@weft/protocol";
import type { FlowRecord, PeerId } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pruneFlows } from "../../db/flow-records-repository.ts";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { createRestClient, makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent, eventually } from "../../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let rule: Json;
let [ada, bob]: SimulatedAgent[] = [];
let nowMs = Date.parse("2027-01-01T12:00:00.000Z");
let numbers = 0n;

beforeAll(async () => {
  server = await createTestApp({ clock: { nowMs: () => nowMs } });
  ({ owner, network } = await setUp(server.url));
  [rule] = (await owner.get(`/api/v1/networks/${network.id}/rules`)).body.items;
  rule ??= (await owner.post(`/api/v1/networks/${network.id}/rules`, { name: "open" })).body;
  const { key } = await makeKey(owner, network.id);
  [ada, bob] = [await join("ada", key), await join("bob", key)];
});
afterAll(() => server.dispose());

async function join(hostname: string, joinKey: string): Promise<SimulatedAgent> {
  const agent = await connectAgent(server.url, { joinKey, hostname });
  await agent.until(() => true);
  return agent;
}

const setNetwork = (changes: Json) =>
  owner.call("PATCH", `/api/v1/networks/${network.id}`, changes, { "if-match": "*" });
const idOf = (agent: SimulatedAgent | undefined): PeerId => agent!.map().self.peerId;

function aFlow(changes: Partial<FlowRecord> = {}): FlowRecord {
  numbers += 1n;
  return {
    id: numbers,
    peerId: idOf(bob),
    protocol: 6,
    local: ip("100.64.0.1"),
    remote: ip("100.64.0.2"),
    localPort: 40_000,
    remotePort: 443,
    icmpType: null,
    began: "here",
    verdict: "allow",
    rule: rule.number,
    rxPackets: 3n,
    rxBytes: 300n,
    txPackets: 2n,
    txBytes: 200n,
    drops: 0n,
    ageMs: 5_000,
    idleMs: 1_000,
    state: "open",
    ...changes,
  };
}

/** Lets Ada report, and waits until the server has written it. */
async function report(...records: readonly FlowRecord[]): Promise<void> {
  const before = await stored();
  ada!.send({ kind: "flowRecords", flows: { counterEpoch: 5n, lost: 0, records } });
  await eventually("records", async () => ((await stored()) === before + records.length ? true : undefined));
}

async function stored(): Promise<number> {
  return Number(/weft_flow_records_total\{outcome="stored"\} (\d+)/.exec(await server.app.metrics())?.[1]);
}

const list = async (query = ""): Promise<Json[]> =>
  (await owner.get(`/api/v1/networks/${network.id}/flow-logs?${query}`)).body.items;
const compareText = (one: string, other: string) => one.localeCompare(other);
const ip = (text: string) => {
  const read = parseIp(text);
  if (!read.ok) throw new Error(text);
  return read.value;
};

test("AP-65: flow records are off until a network asks for them; then its nodes are told how many", async () => {
  expect(network).toMatchObject({ flowSampling: null, flowKeepHours: 168 });
  expect(ada!.map().self.flowSampling).toBeUndefined();
  ada!.send({ kind: "flowRecords", flows: { counterEpoch: 5n, lost: 0, records: [aFlow()] } });

  const changed = await setNetwork({ flowSampling: 20, flowKeepHours: 24 });

  expect(changed.body).toMatchObject({ flowSampling: 20, flowKeepHours: 24 });
  await ada!.until(({ self }) => self.flowSampling === 20);
  const [event] = (await owner.get("/api/v1/audit-events?action=networks.update")).body.items;
  expect(event).toMatchObject({ before: { flowSampling: null }, after: { flowSampling: 20, flowKeepHours: 24 } });
  const wanted = aFlow();
  await report(wanted);
  expect(await list()).toHaveLength(1);
});

test("AP-65: flow records carry rule, verdict, bytes, packets, drops, first and last time", async () => {
  await setNetwork({ flowSampling: 1 });
  await report(
    aFlow({ protocol: 101 }),
    aFlow({ protocol: 101, began: "there", verdict: "deny", rule: null, drops: 9n, peerId: null }),
  );

  const found = await list("protocol=101");
  const [denied, allowed] = found.toSorted((one, other) => (one.verdict < other.verdict ? 1 : -1));

  expect(allowed).toMatchObject({
    peerId: idOf(ada),
    otherPeerId: idOf(bob),
    ruleId: rule.id,
    verdict: "allow",
    direction: "out",
    source: "100.64.0.1",
    destination: "100.64.0.2",
    sourcePort: 40_000,
    destinationPort: 443,
    rxBytes: "300",
    txPackets: "2",
    startedAt: new Date(nowMs - 5_000).toISOString(),
    lastAt: new Date(nowMs - 1_000).toISOString(),
    state: "open",
  });
  expect(denied).toMatchObject({
    direction: "in",
    source: "100.64.0.2",
    destinationPort: 40_000,
    ruleId: null,
    verdict: "deny",
    drops: "9",
    otherPeerId: null,
  });
});

test("AP-65: a later record of a flow replaces the one before, its beginning stays", async () => {
  const flow = aFlow({ protocol: 102 });
  await report(flow);
  const startedAt = new Date(nowMs - 5_000).toISOString();
  nowMs += 10_000;
  await report({ ...flow, ageMs: 15_007, idleMs: 0, rxBytes: 4_000n, state: "ended" });

  expect(await list("protocol=102")).toMatchObject([
    { rxBytes: "4000", state: "ended", startedAt, lastAt: new Date(nowMs).toISOString() },
  ]);
});

test("AP-65: flows are found by peer, rule, verdict, protocol, port, address and time, page by page", async () => {
  nowMs += 10_000;
  const since = new Date(nowMs - 5_000).toISOString();
  await report(
    aFlow({ remote: ip("10.9.8.7"), remotePort: 22 }),
    aFlow({ remote: ip("10.9.9.1"), protocol: 17, verdict: "deny", rule: null }),
    aFlow({ remote: ip("fd00::7"), local: ip("fd00::1"), peerId: null }),
  );
  const found = async (query: string) => (await list(`since=${since}&${query}`)).map((flow) => flow.destination);

  expect(await found("port=22")).toEqual(["10.9.8.7"]);
  expect(await found("protocol=17")).toEqual(["10.9.9.1"]);
  expect(await found("verdict=deny")).toEqual(["10.9.9.1"]);
  expect(await found("address=10.9.8.0/24")).toEqual(["10.9.8.7"]);
  expect(await found("address=fd00::7")).toEqual(["fd00::7"]);
  expect((await found(`ruleId=${rule.id}`)).toSorted(compareText)).toEqual(["10.9.8.7", "fd00::7"]);
  expect((await found(`otherPeerId=${idOf(bob)}`)).toSorted(compareText)).toEqual(["10.9.8.7", "10.9.9.1"]);
  expect(await found(`peerId=${idOf(bob)}`)).toEqual([]);
  expect(await found(`peerId=${idOf(ada)}&until=${since}`)).toEqual([]);
  const path = `/api/v1/networks/${network.id}/flow-logs?since=${since}&limit=2&count=true`;
  const first = (await owner.get(path)).body;
  const second = (await owner.get(`${path}&cursor=${first.nextCursor}`)).body;
  const ids = [...first.items, ...second.items].map(({ id }: Json) => id);
  expect([first.total, new Set(ids).size, second.nextCursor]).toEqual([3, 3, null]);
  for (const bad of ["address=10.0.0.0%2F33", "address=x", "port=65536", "protocol=-1", "verdict=maybe"]) {
    const answer = await owner.get(`/api/v1/networks/${network.id}/flow-logs?${bad}`);
    expect([bad, answer.status]).toEqual([bad, 400]);
  }
});

test("AP-65: the flows of a node that go on are shown with the largest first", async () => {
  await report(
    aFlow({ rxBytes: 90_010n, txBytes: 10n }),
    aFlow({ rxBytes: 95_000n, remotePort: 1 }),
    aFlow({ rxBytes: 99_000n, state: "ended" }),
    aFlow({ rxBytes: 98_000n, ageMs: 200_000, idleMs: 100_000 }),
  );

  const top = await owner.get(`/api/v1/peers/${idOf(ada)}/top-flows?limit=2`);

  expect(top.body.items.map(({ rxBytes }: Json) => rxBytes)).toEqual(["95000", "90010"]);
  expect((await owner.get(`/api/v1/peers/${idOf(bob)}/top-flows`)).body.items).toEqual([]);
});

test("AP-65: what is older than the network keeps flows is forgotten, and the oldest of too many", async () => {
  await setNetwork({ flowKeepHours: 2 });
  const hours = (count: number) => count * 3_600_000;
  await report(
    aFlow({ protocol: 103, ageMs: hours(3), idleMs: hours(2.5), remotePort: 1 }),
    aFlow({ protocol: 103, ageMs: hours(3), idleMs: hours(1), remotePort: 2 }),
    aFlow({ protocol: 103, ageMs: hours(1), remotePort: 3 }),
    aFlow({ protocol: 103, ageMs: 0, idleMs: 0, remotePort: 4 }),
  );
  const { db, dispose } = server.database.connect();
  const kept = async () => (await list("protocol=103")).map((flow) => flow.destinationPort);

  await pruneFlows(db, { nowMs, rowsMax: 100 });
  expect(await kept()).toEqual([4, 3, 2]);
  await pruneFlows(db, { nowMs, rowsMax: 1 });
  expect(await kept()).toEqual([4]);
  expect(await list()).toHaveLength(1);
  await dispose();
});

test("AP-64 AP-65: rules and peers that the network does not have are left out of a record, the rest is taken", async () => {
  const stranger = peerIds.make((length) => new Uint8Array(length).fill(7));
  await report(aFlow({ protocol: 104, rule: 1, peerId: stranger, rxBytes: 2n ** 64n - 1n }));

  expect(await list("protocol=104")).toMatchObject([
    { ruleId: null, otherPeerId: null, rxBytes: String(2n ** 63n - 1n) },
  ]);
});

test("F-G10: flows are read with the scope flows:read and not without, and settings with networks:write", async () => {
  const make = async (scope: string) =>
    createRestClient(server.url, {
      token: (await owner.post("/api/v1/tokens", { name: "t", scopes: [scope] })).body.token,
    });
  const [reader, other] = [await make("flows:read"), await make("peers:read")];
  const path = `/api/v1/networks/${network.id}/flow-logs`;

  expect((await reader.get(path)).status).toBe(200);
  expect((await other.get(path)).body).toMatchObject({ status: 403, code: "scope_missing" });
  const refused = await reader.call(
    "PATCH",
    `/api/v1/networks/${network.id}`,
    { flowSampling: 1 },
    { "if-match": "*" },
  );
  expect(refused.status).toBe(403);
  for (const flowSampling of [0, 10_001, 1.5, "all"]) {
    expect([flowSampling, (await setNetwork({ flowSampling })).status]).toEqual([flowSampling, 400]);
  }
});
