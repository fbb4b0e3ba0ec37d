import { inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { POLICY_PROTOCOLS } from "../domain/policy-rule.ts";
import { createTestApp } from "../testing/create-test-app.ts";
import type { TestApp } from "../testing/create-test-app.ts";
import { makeKey, setUp } from "../testing/rest-client.ts";
import type { Json, RestClient } from "../testing/rest-client.ts";
import { connectAgent, eventually } from "../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let office: Json;
let aheadMs = 0;
let made = 0;

beforeAll(async () => {
  server = await createTestApp({ clock: { nowMs: () => Date.now() + aheadMs } });
  ({ owner, network: office } = await setUp(server.url));
});
afterAll(() => server.dispose());

async function newNetwork(): Promise<{ readonly network: Json; readonly joinKey: string }> {
  made += 1;
  const network = (await owner.post("/api/v1/networks", { name: `n${made}` })).body;
  return { network, joinKey: (await makeKey(owner, network.id)).key };
}

async function join(joinKey: string, hostname = "host") {
  const agent = await connectAgent(server.url, { joinKey, hostname });
  const { peerId: id } = await agent.next("welcome");
  await agent.until(() => true);
  return { agent, id };
}

const peerOf = async (id: string) => (await owner.get(`/api/v1/peers/${id}`)).body;

test("D4 F-F12 a first network begins with one visible rule between all, any other with none, which lets nobody see anybody", async () => {
  const rulesOf = async (id: string) => (await owner.get(`/api/v1/networks/${id}/rules`)).body.items;
  const { network, joinKey } = await newNetwork();

  expect(await rulesOf(office.id)).toMatchObject([{ kind: "all-to-all", action: "allow", state: "on" }]);
  expect(await rulesOf(network.id)).toEqual([]);
  const [one, two] = [await join(joinKey), await join(joinKey)];
  // A change that both hear of comes after whatever they would have been told.
  await owner.call("PATCH", `/api/v1/networks/${network.id}`, { name: "closed" }, { "if-match": "*" });
  for (const { agent } of [one, two]) {
    const map = await agent.until(({ self }) => self.networkName === "closed");
    expect([map.peers, map.filter]).toEqual([[], []]);
    agent.leave();
  }
});

test("F-A1 networks share nothing: no node of one is told anything of another, and their ranges never meet", async () => {
  const [here, there] = [await newNetwork(), await newNetwork()];
  for (const { network } of [here, there]) await owner.post(`/api/v1/networks/${network.id}/rules`, {});
  const mine = [await join(here.joinKey, "alpha-1"), await join(here.joinKey, "alpha-2")];
  const other = await join(there.joinKey, "beta-1");

  for (const { agent } of mine) await agent.until(({ peers }) => peers.length === 1);
  await owner.call("PATCH", `/api/v1/peers/${other.id}`, { name: "beta-renamed" });
  await other.agent.until(({ self }) => self.name === "beta-renamed");

  for (const { agent } of mine) expect(told(agent)).not.toContain("beta-");
  expect(told(other.agent)).not.toContain("alpha-");
  const twin = { name: "twin", ipv4Range: here.network.ipv4Range, ipv6Range: null };
  expect(await owner.post("/api/v1/networks", twin)).toMatchObject({ status: 409, body: { code: "range_overlaps" } });
  const listed = (await owner.get(`/api/v1/networks/${here.network.id}/peers`)).body.items;
  expect(listed.map(({ id }: Json) => id).toSorted()).toEqual(mine.map(({ id }) => id).toSorted());
  for (const { agent } of [...mine, other]) agent.leave();
});

test("SEC-14 AP-27 the bytes that a node gets never name a peer that policy hides, in maps, changes or rules", async () => {
  const { network, joinKey } = await newNetwork();
  const [viewer, friend, hidden] = [
    await join(joinKey, "viewer"),
    await join(joinKey, "friend"),
    await join(joinKey, "hidden-one"),
  ];
  const side = (id: string) => ({ kind: "peer", id });
  const rules = `/api/v1/networks/${network.id}/rules`;
  await owner.post(rules, { source: side(viewer.id), destination: side(friend.id) });
  await owner.post(rules, { source: side(friend.id), destination: side(hidden.id), direction: "one-way" });
  await friend.agent.until(({ peers }) => peers.length === 2);

  hidden.agent.send(statusAt("198.51.100.77:4444"));
  await friend.agent.until(({ peers }) => peers.some(({ endpoints }) => endpoints.join() === "198.51.100.77:4444"));
  await owner.call("PATCH", `/api/v1/peers/${hidden.id}`, { name: "hidden-renamed" });
  await owner.post(`/api/v1/peers/${hidden.id}/disable`);
  await owner.post(`/api/v1/peers/${hidden.id}/enable`);
  await owner.call("PATCH", `/api/v1/peers/${friend.id}`, { name: "friend-renamed" });
  await viewer.agent.until(({ peers }) => peers.some(({ name }) => name === "friend-renamed"));
  viewer.agent.send({ kind: "needMap", reason: "gap" });
  await eventually("a second whole map", () => mapsOf(viewer.agent) > 1 || undefined, 60_000);

  const seen = told(viewer.agent);
  expect(seen).toContain("friend");
  expect(seen).not.toContain("hidden");
  const key = Buffer.from(hidden.agent.identity.publicKey, "base64").toString("latin1");
  const address = Buffer.from((hidden.agent.map().self.ipv4 ?? "").split(".").map(Number)).toString("latin1");
  expect(seen).not.toContain(key);
  expect(seen).not.toContain(address);
  expect(told(friend.agent)).toContain(address);
  expect(told(friend.agent)).toContain(key);
  for (const { agent } of [viewer, friend, hidden]) agent.leave();
});

/** Everything of maps that a node was ever sent, unpacked. */
function told({ frames }: SimulatedAgent): string {
  const parts: Uint8Array[] = [];
  const bodies: Uint8Array[] = [];
  for (const frame of frames) {
    if (frame.kind === "mapBegin") parts.length = 0;
    if (frame.kind === "mapPart") parts.push(frame.bytes);
    if (frame.kind === "mapEnd") bodies.push(inflateRawSync(Buffer.concat(parts)));
    if (frame.kind === "delta") bodies.push(frame.body);
  }
  return Buffer.concat(bodies).toString("latin1");
}

function mapsOf({ frames }: SimulatedAgent): number {
  return frames.filter(({ kind }) => kind === "mapEnd").length;
}

function statusAt(endpoint: string) {
  return {
    kind: "status",
    status: {
      interfaceName: "weft0",
      listenPort: 51_820,
      shards: 1,
      endpoints: [endpoint as never],
      offloads: [],
      wallClockMs: Date.now() + aheadMs,
      clockSkewMs: null,
      forwarding: null,
      problems: [],
    },
  } as const;
}

test("F-B3 every protocol that a rule may name reaches nodes by its number, with ports or types as it has them", async () => {
  const { network, joinKey } = await newNetwork();
  const { agent } = await join(joinKey);
  const numbers = { tcp: 6, udp: 17, icmp: 1, icmpv6: 58, sctp: 132 };
  expect(Object.keys(numbers).toSorted()).toEqual(POLICY_PROTOCOLS.toSorted());
  const details = {
    tcp: { ports: [{ low: 1, high: 65_535 }] },
    udp: { ports: [{ low: 53, high: 53 }] },
    icmp: { icmpType: 3, icmpCode: 4 },
    icmpv6: { icmpType: 128 },
    sctp: {},
  };

  for (const protocol of POLICY_PROTOCOLS)
    await owner.post(`/api/v1/networks/${network.id}/rules`, { protocol, ...details[protocol] });
  const { filter } = await agent.until((map) => map.filter.length === POLICY_PROTOCOLS.length);

  expect(filter.map(({ protocol }) => protocol)).toEqual(POLICY_PROTOCOLS.map((name) => numbers[name]));
  expect(filter.map(({ ports }) => ports)).toEqual(
    POLICY_PROTOCOLS.map((name) => ("ports" in details[name] ? details[name].ports : null)),
  );
  expect(filter.flatMap(({ icmp }) => icmp ?? [])).toEqual([
    { type: 3, code: 4 },
    { type: 128, code: null },
  ]);
  agent.leave();
});

test("F-A8 F-A9 a key lets in as many as it says until it expires: one, a number of them, or any number", async () => {
  const { network } = await newNetwork();
  const tryIt = async (key: string) => {
    const agent = await connectAgent(server.url, { joinKey: key });
    const answer = await eventually("an answer", () =>
      agent.frames.find((frame) => frame.kind === "welcome" || frame.kind === "bye"),
    );
    agent.cut();
    return answer.kind === "bye" ? answer.detail : answer.kind;
  };
  const attempts = async (usesMax: number | null, times: number) => {
    const { key } = await makeKey(owner, network.id, { usesMax, expiresInSeconds: 3_600 });
    const answers: string[] = [];
    for (let time = 0; time < times; time += 1) answers.push(await tryIt(key));
    return { key, answers };
  };

  const once = await attempts(1, 2);
  const thrice = await attempts(3, 5);
  const free = await attempts(null, 4);
  aheadMs += 3_601_000;
  const late = await tryIt(free.key);

  const used = "enrolment_key_used_up";
  expect(once.answers).toEqual(["welcome", used]);
  expect(thrice.answers).toEqual(["welcome", "welcome", "welcome", used, used]);
  expect(free.answers).toEqual(["welcome", "welcome", "welcome", "welcome"]);
  expect(late).toBe("enrolment_key_expired");
});

test("F-A2 CP-27 CP-32 AP-41 AP-42 a node is online as long as it proves it, with the time of the last proof; one that falls silent is not", async () => {
  const { network, joinKey } = await newNetwork();
  const { agent, id } = await join(joinKey, "witness");
  const first = await peerOf(id);

  aheadMs += 20_000;
  agent.send({ kind: "ping", token: 1n });
  await agent.next("pong");
  const second = await peerOf(id);
  // From here on the node answers nothing, as a host does whose power is gone.
  agent.socket.removeAllListeners("message");
  aheadMs += 36_000;
  await eventually("the end of the stream", () => agent.isClosed() || undefined, 60_000);
  aheadMs += 11_000;
  const third = await peerOf(id);

  expect([first.presence, second.presence, third.presence]).toEqual(["online", "online", "offline"]);
  expect(Date.parse(second.lastSeenAt) - Date.parse(first.lastSeenAt)).toBeGreaterThanOrEqual(20_000);
  expect(third.lastSeenAt).toBe(second.lastSeenAt);
  const [row] = (await owner.get(`/api/v1/networks/${network.id}/peers`)).body.items;
  expect(row).toMatchObject({ name: "witness", presence: "offline", os: "linux", arch: "x64", agentVersion: "0.1.0" });
});
