import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";

import type { Agent } from "../harness/agents.ts";
import {
  hostSettings,
  INTERNET,
  openRoute,
  PRINTER,
  startBranchOffice,
  type BranchOffice,
} from "../harness/branch-office.ts";
import { argv } from "../harness/argv.ts";
import { cleanUpNow } from "../harness/cleanup.ts";
import { eventually } from "../harness/eventually.ts";
import type { Host } from "../harness/namespaces.ts";
import { startProgram } from "../harness/programs.ts";
import { whyNoMesh } from "../harness/tools.ts";

const whyNot = whyNoMesh(["nft", "tcpdump"]);
let office: BranchOffice;
const before = new Map<string, string>();

beforeAll(async () => {
  if (whyNot !== undefined) return;
  office = await startBranchOffice();
  for (const { host, name } of agents()) before.set(name, await hostSettings(host));
});
afterAll(cleanUpNow);

test("F-C1 F-C2 a network behind a router is reached over both families, under the router's address or the sender's own", async ({
  skip,
}) => {
  if (whyNot !== undefined) skip(whyNot);
  const { ada, grace, printer, owned } = office;
  const ranges = ["198.51.100.0/24", "2001:db8:b::/64"];
  const routes: string[] = [];
  for (const prefix of ranges) routes.push(await openRoute(owned, grace, { prefix }));

  // The printer knows no way back to the overlay: only the router's own address can be answered.
  await reaches(ada.host, PRINTER.ipv4);
  await reaches(ada.host, PRINTER.ipv6);
  expect(await grace.host.must("nft", ["list", "ruleset"])).toContain("masquerade");

  for (const id of routes) await owned.client.patch(`/routes/${id}`, { masquerade: false });
  await loses(ada.host, PRINTER.ipv4);
  await loses(ada.host, PRINTER.ipv6);
  await printer.must("ip", argv`route add ${ada.ipv4}/32 via 198.51.100.1`);
  await printer.must("ip", argv`-6 route add ${ada.ipv6}/128 via 2001:db8:b::1`);
  await reaches(ada.host, PRINTER.ipv4);
  await reaches(ada.host, PRINTER.ipv6);
  await printer.must("ip", argv`route del ${ada.ipv4}/32`);
  await printer.must("ip", argv`-6 route del ${ada.ipv6}/128`);

  for (const id of routes) await owned.client.remove(`/routes/${id}`);
  await restored(grace);
  await restored(ada);
});

test("F-C4 CP-71 ND-13 another router takes over a network when the one in use is killed; each router keeps its own way into it", async ({
  skip,
}) => {
  if (whyNot !== undefined) skip(whyNot);
  const { ada, grace, hedy, owned } = office;
  const routes = [
    await openRoute(owned, grace, { prefix: "198.51.100.0/24" }),
    await openRoute(owned, hedy, { prefix: "198.51.100.0/24" }),
  ];
  await reaches(ada.host, PRINTER.ipv4);
  expect(await routersInUse()).toEqual([grace.peerId]);
  await reaches(hedy.host, PRINTER.ipv4);

  grace.program.signal("SIGKILL");
  await grace.program.ended;
  await eventually("the other router in use", { withinMs: 60_000 }, async () =>
    (await routersInUse()).join() === hedy.peerId ? true : undefined,
  );
  await reaches(ada.host, PRINTER.ipv4);

  // What the killed agent left is undone by the next one, and what is wanted now is set.
  office = { ...office, grace: await grace.up() };
  expect(await routersInUse()).toEqual([hedy.peerId]);
  for (const id of routes) await owned.client.remove(`/routes/${id}`);
  for (const agent of agents()) await restored(agent);
});

test("F-C3 ND-14 ND-15 with an exit node nothing but the tunnel's own traffic leaves the host, also when the exit node is lost", async ({
  skip,
}) => {
  if (whyNot !== undefined) skip(whyNot);
  const { ada, hedy, owned } = office;
  const choose = (body: unknown) => owned.client.post(`/peers/${ada.peerId}/exit-node`, body);
  const routes = [
    await openRoute(owned, hedy, { prefix: "0.0.0.0/0" }),
    await openRoute(owned, hedy, { prefix: "::/0" }),
  ];
  await choose({ exitPeerId: hedy.peerId });
  await eventually("the way through the exit node", { withinMs: 30_000 }, async () => {
    const [four, six] = [await wayTo(ada.host, INTERNET.ipv4), await wayTo(ada.host, INTERNET.ipv6)];
    return four.includes("weft0") && six.includes("weft0") ? true : undefined;
  });
  const capture = await watchUplink(ada.host);

  await reaches(ada.host, INTERNET.ipv4);
  await reaches(ada.host, INTERNET.ipv6);
  // A question about a name goes the same way, even to a name server on the local network.
  expect(await wayTo(ada.host, "192.0.2.53", ["ipproto", "udp", "dport", "53"])).toContain("weft0");
  // The local network itself stays reachable, and the stream to the control plane stays outside.
  expect(await wayTo(ada.host, "192.0.2.12")).toContain("eth0");
  expect(await wayTo(ada.host, "192.0.2.1")).toContain("eth0");

  hedy.program.signal("SIGKILL");
  await hedy.program.ended;
  for (const address of [INTERNET.ipv4, INTERNET.ipv6]) await loses(ada.host, address);
  // The agent itself is gone: what has no exit goes nowhere.
  ada.program.signal("SIGKILL");
  await ada.program.ended;
  for (const address of [INTERNET.ipv4, INTERNET.ipv6]) await loses(ada.host, address);

  const captured = await capture();
  expect(captured.filter((line) => !isUnderlay(line))).toEqual([]);
  expect(captured.filter((line) => line.includes(".51820 > ")).length).toBeGreaterThan(4);
  office = { ...office, ada: await ada.up(), hedy: await hedy.up() };
  await choose({ exitPeerId: null });
  for (const id of routes) await owned.client.remove(`/routes/${id}`);
  for (const agent of agents()) await restored(agent);
  await reaches(ada.host, INTERNET.ipv4);
});

test("CP-72 an agent that is asked to stop puts routing, firewall and settings of its host back", async ({ skip }) => {
  if (whyNot !== undefined) skip(whyNot);
  const { ada, hedy, owned } = office;
  await openRoute(owned, hedy, { prefix: "0.0.0.0/0" });
  await openRoute(owned, hedy, { prefix: "198.51.100.0/24" });
  await owned.client.post(`/peers/${ada.peerId}/exit-node`, { exitPeerId: hedy.peerId, lan: "blocked" });
  await eventually("the way through the exit node", { withinMs: 30_000 }, async () =>
    (await wayTo(ada.host, "192.0.2.12")).includes("weft0") ? true : undefined,
  );
  await reaches(ada.host, PRINTER.ipv4);
  await reaches(ada.host, INTERNET.ipv4);
  // Nobody carries IPv6 for this host now, so it goes nowhere.
  expect((await ada.host.run("ip", argv`-6 route get ${INTERNET.ipv6}`)).stdout).not.toContain("eth0");

  for (const { program } of [ada, hedy]) expect(await program.stop(10_000)).toBe(0);

  for (const { host, name } of [ada, hedy]) expect(await hostSettings(host)).toBe(before.get(name));
});

function agents(): readonly Agent[] {
  return [office.ada, office.grace, office.hedy];
}

async function reaches(from: Host, address: string): Promise<void> {
  await eventually(`an answer of ${address}`, { withinMs: 60_000 }, async () =>
    (await pings(from, address)) > 0 ? true : undefined,
  );
}

async function loses(from: Host, address: string): Promise<void> {
  await eventually(`silence of ${address}`, { withinMs: 60_000 }, async () =>
    (await pings(from, address)) === 0 ? true : undefined,
  );
}

/** How many of two requests were answered within a second. */
async function pings(from: Host, address: string): Promise<number> {
  const { stdout } = await from.run("ping", argv`-n -c 2 -i 0.2 -w 1 ${address}`);
  return [...stdout.matchAll(/icmp_seq=/g)].filter(() => stdout.includes("time=")).length;
}

async function wayTo(host: Host, address: string, words: readonly string[] = []): Promise<string> {
  const { stdout } = await host.run("ip", ["route", "get", address, ...words]);
  return stdout;
}

async function restored({ host, name }: Agent): Promise<void> {
  await eventually(`${name}'s settings of before`, { withinMs: 60_000 }, async () =>
    (await hostSettings(host)) === before.get(name) ? true : undefined,
  );
}

async function routersInUse(): Promise<readonly string[]> {
  const { client, networkId } = office.owned;
  const { items } = RoutesSchema.parse(await client.get(`/networks/${networkId}/routes`));
  return items.filter(({ active }) => active).map(({ peerId }) => peerId);
}

/** Lists what leaves a host through its uplink until it is asked for. */
async function watchUplink(host: Host): Promise<() => Promise<readonly string[]>> {
  const lines: string[] = [];
  const program = startProgram({
    name: "tcpdump",
    program: "tcpdump",
    args: argv`-i eth0 -n -l -t -Q out ip or ip6`,
    host,
    onLine: (line) => void lines.push(line),
  });
  await program.waitForLine("listening on eth0", 30_000, (line) => (line.includes("listening on") ? true : undefined));
  return async () => {
    await program.stop();
    return lines.filter((line) => /^IP6? /.test(line));
  };
}

/** Datagrams of the tunnel, the stream to the control plane, and what neighbours on a link say to each other. */
function isUnderlay(line: string): boolean {
  return (
    /\.51820 > .*UDP/.test(line) ||
    / > 192\.0\.2\.1\.7400: /.test(line) ||
    /neighbor|router solicitation|multicast listener/.test(line)
  );
}

const RoutesSchema = z.object({ items: z.array(z.object({ peerId: z.string(), active: z.boolean() })) });
