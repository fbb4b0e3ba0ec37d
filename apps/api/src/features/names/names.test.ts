import { randomBytes } from "node:crypto";
import { groupIds } from "@weft/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp } from "../../testing/create-test-app.ts";
import type { TestApp } from "../../testing/create-test-app.ts";
import { makeKey, setUp } from "../../testing/rest-client.ts";
import type { Json, RestClient } from "../../testing/rest-client.ts";
import { connectAgent } from "../../testing/simulated-agent.ts";
import type { SimulatedAgent } from "../../testing/simulated-agent.ts";

let server: TestApp;
let owner: RestClient;
let network: Json;
let made = 0;

beforeAll(async () => {
  server = await createTestApp();
  ({ owner } = await setUp(server.url));
});
afterAll(() => server.dispose());

/** A network of its own, without rules. */
async function emptyNetwork(): Promise<void> {
  made += 1;
  network = (await owner.post("/api/v1/networks", { name: `n${made}` })).body;
}

async function join(hostname: string): Promise<{ readonly agent: SimulatedAgent; readonly id: string }> {
  const agent = await connectAgent(server.url, { joinKey: (await makeKey(owner, network.id)).key, hostname });
  const { peerId } = await agent.next("welcome");
  await agent.until(() => true);
  return { agent, id: peerId };
}

const dns = (path: string) => `/api/v1/networks/${network.id}/dns/${path}`;
const addRecord = (body: object) => owner.post(dns("records"), body);
const anyVersion = { "if-match": "*" };
const change = (path: string, body: object) => owner.call("PATCH", `/api/v1${path}`, body, anyVersion);
const makeGroup = async (name: string): Promise<string> =>
  (await owner.post(`/api/v1/networks/${network.id}/groups`, { name })).body.id;
const regroup = (peerId: string, groupIds: readonly string[]) =>
  owner.call("PATCH", `/api/v1/peers/${peerId}`, { groupIds });

test("F-C6 API-30 names are on with a domain, and settings change only for whoever read them", async () => {
  await emptyNetwork();
  const { agent } = await join("alpha");
  expect(agent.map().names).toEqual({
    domain: "weft.internal",
    host: "use",
    searchDomains: [],
    records: [],
    nameservers: [],
  });
  const read = await owner.get(dns("settings"));
  const wanted = { state: "on", domain: "Lab.Example.", searchDomains: ["example.com"], leftAloneGroupIds: [] };

  const blind = await owner.call("PUT", dns("settings"), wanted);
  const changed = await owner.call("PUT", dns("settings"), wanted, { "if-match": read.headers.get("etag") ?? "" });
  const late = await owner.call("PUT", dns("settings"), wanted, { "if-match": read.headers.get("etag") ?? "" });
  const again = await owner.get(dns("settings"));

  expect([blind.status, changed.status, late.status]).toEqual([428, 200, 412]);
  expect(changed.body).toEqual({ ...wanted, networkId: network.id, domain: "lab.example" });
  expect(again.headers.get("etag")).toBe(changed.headers.get("etag"));
  await agent.until(({ names }) => names?.domain === "lab.example" && names.searchDomains.length === 1);
  await owner.call("PUT", dns("settings"), { ...wanted, state: "off" }, anyVersion);
  await agent.until(({ names }) => names === undefined);
  for (const domain of ["local", "x.local", "a..b", "-x.example", "1.2", "ä.example"]) {
    const refused = await owner.call("PUT", dns("settings"), { ...wanted, domain }, anyVersion);
    expect(refused, domain).toMatchObject({ status: 422, body: { code: "name_fault" } });
  }
  agent.leave();
});

test("F-C8 a record is made, found, changed and removed, and what cannot be is refused with the reason", async () => {
  await emptyNetwork();
  const { agent, id } = await join("alpha");
  const db = await addRecord({ name: "DB", type: "A", value: "192.0.2.7" });
  const second = await addRecord({ name: "db", type: "A", value: "192.0.2.8", ttlSeconds: 300 });
  const www = await addRecord({ name: "www", type: "CNAME", value: "db" });

  expect([db, second, www].map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(db.headers.get("location")).toBe(`/api/v1/dns/records/${db.body.id}`);
  const map = await agent.until(({ names }) => names?.records.length === 3);
  expect(map.names?.records).toEqual([
    { name: "db", type: "A", address: "192.0.2.7", ttlSeconds: 10 },
    { name: "db", type: "A", address: "192.0.2.8", ttlSeconds: 300 },
    { name: "www", type: "CNAME", target: "db", ttlSeconds: 10 },
  ]);
  const refused = [
    await addRecord({ name: "db", type: "A", value: "192.0.2.7" }),
    await addRecord({ name: "alpha", type: "A", value: "192.0.2.9" }),
    await addRecord({ name: "db", type: "CNAME", value: "www" }),
    await addRecord({ name: "www", type: "AAAA", value: "2001:db8::1" }),
    await addRecord({ name: "@", type: "CNAME", value: "db" }),
    await addRecord({ name: "x", type: "A", value: "2001:db8::1" }),
    await addRecord({ name: "x", type: "A", value: "0.0.0.0" }),
    await addRecord({ name: "x", type: "AAAA", value: "::" }),
    await addRecord({ name: "x_y", type: "A", value: "192.0.2.9" }),
    await addRecord({ name: "x", type: "MX", value: "db" }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([409, 409, 422, 422, 422, 422, 422, 422, 422, 400]);
  const changed = await change(`/dns/records/${db.body.id}`, { type: "AAAA", value: "2001:DB8::7" });
  expect(changed.body).toMatchObject({ name: "db", type: "AAAA", value: "2001:db8::7" });
  const listed = (await owner.get(`${dns("records")}?type=A&q=192.0&count=true&sort=-name`)).body;
  expect(listed).toMatchObject({ total: 1, items: [{ id: second.body.id }] });
  expect((await owner.call("DELETE", `/api/v1/dns/records/${second.body.id}`)).status).toBe(204);
  expect((await owner.get(`/api/v1/dns/records/${second.body.id}`)).status).toBe(404);
  await agent.until(({ names }) => names?.records.length === 2);
  const events = (await owner.get(`/api/v1/audit-events?objectId=${db.body.id}`)).body.items;
  expect(events.map(({ action }: Json) => action).toSorted()).toEqual(["nameRecords.create", "nameRecords.update"]);
  await owner.call("DELETE", `/api/v1/peers/${id}`);
  agent.leave();
});

test("SEC-14 AP-27 a record that points at a peer goes only to nodes that may know of the peer", async () => {
  await emptyNetwork();
  const [target, friend, stranger] = [await join("target"), await join("friend"), await join("stranger")];
  const address = target.agent.map().self.ipv4;
  await addRecord({ name: "by-address", type: "A", value: address });
  await addRecord({ name: "by-name", type: "CNAME", value: "target" });
  await addRecord({ name: "by-whole-name", type: "CNAME", value: "target.weft.internal" });
  await addRecord({ name: "open", type: "A", value: "192.0.2.1" });
  const shown = ({ names }: { names?: { records: readonly { name: string }[] } }) => names?.records.length ?? 0;
  await target.agent.until((map) => shown(map) === 4);
  await stranger.agent.until((map) => shown(map) === 1);

  const [source, destination] = [friend, target].map(({ id }) => ({ kind: "peer", id }));
  const rule = await owner.post(`/api/v1/networks/${network.id}/rules`, { source, destination, direction: "one-way" });
  await friend.agent.until((map) => shown(map) === 4);
  expect(shown(stranger.agent.map())).toBe(1);

  await owner.call("DELETE", `/api/v1/rules/${rule.body.id}`);
  await friend.agent.until((map) => shown(map) === 1);
  // Renamed, the peer no longer stands behind two of the records; they say nothing of it then.
  await owner.call("PATCH", `/api/v1/peers/${target.id}`, { name: "elsewhere" });
  const map = await stranger.agent.until((one) => shown(one) === 3);
  expect(map.names?.records.map(({ name }) => name)).toEqual(["by-name", "by-whole-name", "open"]);
  for (const { agent } of [target, friend, stranger]) agent.leave();
});

test("F-C7 CP-75 nameservers go to the nodes of their groups, and groups can be left alone", async () => {
  await emptyNetwork();
  const [office, guest] = [await join("office"), await join("guest")];
  const staff = await makeGroup("staff");
  await regroup(office.id, [staff]);
  const said = { name: "corp", servers: ["192.0.2.53", "[2001:db8::53]:5353"], domains: ["Corp.Example"] };

  const corp = await owner.post(dns("nameservers"), { ...said, groupIds: [staff] });
  const all = await owner.post(dns("nameservers"), { name: "all", servers: ["2001:db8::1"] });

  expect(corp.body).toMatchObject({
    servers: ["192.0.2.53:53", "[2001:db8::53]:5353"],
    domains: ["corp.example"],
    state: "on",
  });
  expect(all.body.servers).toEqual(["[2001:db8::1]:53"]);
  const map = await office.agent.until(({ names }) => names?.nameservers.length === 2);
  expect(map.names?.nameservers[0]).toEqual({
    domains: ["corp.example"],
    servers: ["192.0.2.53:53", "[2001:db8::53]:5353"],
  });
  await guest.agent.until(({ names }) => names?.nameservers.length === 1);
  await regroup(guest.id, [staff]);
  await guest.agent.until(({ names }) => names?.nameservers.length === 2);
  await change(`/dns/nameservers/${corp.body.id}`, { state: "off" });
  await guest.agent.until(({ names }) => names?.nameservers.length === 1);

  const settings = { state: "on", domain: "weft.internal", searchDomains: [], leftAloneGroupIds: [staff] };
  expect((await owner.call("PUT", dns("settings"), settings, anyVersion)).status).toBe(200);
  await office.agent.until(({ names }) => names?.host === "leave");
  await regroup(office.id, []);
  await office.agent.until(({ names }) => names?.host === "use");

  const inUse = await owner.call("DELETE", `/api/v1/groups/${staff}`);
  expect(inUse).toMatchObject({ status: 409, body: { code: "in_use" } });
  expect(inUse.body.detail).toContain("nameservers corp");
  const refused = [
    await owner.post(dns("nameservers"), { name: "CORP", servers: ["192.0.2.1"] }),
    await owner.post(dns("nameservers"), { name: "x", servers: ["dns.example"] }),
    await owner.post(dns("nameservers"), { name: "x", servers: [] }),
    await owner.post(dns("nameservers"), { name: "x", servers: ["192.0.2.1"], domains: ["a", "a"] }),
    await owner.post(dns("nameservers"), { name: "x", servers: ["192.0.2.1"], groupIds: [groupIds.make(randomBytes)] }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([409, 422, 400, 422, 422]);
  expect((await owner.call("DELETE", `/api/v1/dns/nameservers/${corp.body.id}`)).status).toBe(204);
  expect((await owner.get(`${dns("nameservers")}?state=on&count=true`)).body.total).toBe(1);
  for (const { agent } of [office, guest]) agent.leave();
});
