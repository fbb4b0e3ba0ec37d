import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";

import { cleanUpNow } from "../harness/cleanup.ts";
import { eventually } from "../harness/eventually.ts";
import { startMesh, type Mesh } from "../harness/mesh.ts";
import type { Host } from "../harness/namespaces.ts";
import { startPlainPeer, type PlainPeer } from "../harness/plain-wireguard.ts";
import { providePlainWireguard } from "../harness/provide-plain.ts";
import { startSteadyPing } from "../harness/steady-ping.ts";
import { whyNoMesh } from "../harness/tools.ts";
import { countPings, transferBytes } from "../harness/traffic.ts";
import { makeWireguardKeys } from "../harness/wireguard-keys.ts";

let whyNot = whyNoMesh(["nft"]);
let mesh: Mesh;
let made = 0;

beforeAll(async () => {
  const provided = await providePlainWireguard("wireguard-go");
  whyNot ??= "reason" in provided ? provided.reason : undefined;
  if (whyNot !== undefined) return;
  mesh = await startMesh();
  const { client, networkId } = mesh.owned;
  const { items } = RulesSchema.parse(await client.get(`/networks/${networkId}/rules`));
  for (const { id } of items) await client.remove(`/rules/${id}`);
}, 300_000);
afterAll(cleanUpNow);

test("F-A16 a phone with plain WireGuard behind grace reaches ada as the rules say, both families, and is gone at once when it is removed", async ({
  skip,
}) => {
  if (whyNot !== undefined) skip(whyNot);
  const { ada, grace, owned } = mesh;
  const phone = await addPhone();
  const [toAda, toAda6] = [ada.ipv4, ada.ipv6].map((address) => ({ from: phone.host, to: ada.host, address }));
  const toGrace = { from: phone.host, to: grace.host, address: grace.ipv4 };
  const back = { from: ada.host, to: phone.host, address: phone.ipv4 };
  if (!toAda || !toAda6) throw new Error("ada has two addresses");
  const rule = await allow(phone.id, ada.peerId);

  await answers(toAda);
  await answers(toAda6);
  expect(await transferBytes(toAda, 5_000_000)).toMatchObject({ receivedBytes: 5_000_000, identical: true });
  expect(await countPings(toGrace, 5, 50)).toMatchObject({ received: 0 });
  expect(await countPings(back, 5, 50)).toMatchObject({ received: 0 });

  await owned.client.patch(`/rules/${rule}`, { direction: "both-ways" });
  await answers(back);
  // The other side sees who really sent: nobody translates the client's address.
  expect(await grace.host.must("nft", ["list", "ruleset"])).not.toContain("masquerade");

  const ping = startSteadyPing(toAda, 20);
  await eventually("answers", { withinMs: 5_000 }, () => (ping.answersAtMs.length > 10 ? true : undefined));
  await owned.client.remove(`/peers/${phone.id}`);
  const removedAtMs = Date.now();
  await eventually("silence", { withinMs: 10_000 }, () =>
    Date.now() - (ping.answersAtMs.at(-1) ?? 0) > 1_500 ? true : undefined,
  );
  const lastAtMs = ping.answersAtMs.at(-1) ?? 0;
  await ping.stop();
  // From the answer of the API to the last echo.
  expect(lastAtMs - removedAtMs).toBeLessThan(1_000);
  await phone.plain.program.stop();
});

test("CP-84 a new client has its handshake without a restart, as the first, the 20th and the 200th", async ({
  skip,
}) => {
  if (whyNot !== undefined) skip(whyNot);
  const { ada, grace } = mesh;
  for (const total of [1, 20, 200]) {
    const missing = total - 1 - (await clientCount());
    await Promise.all(Array.from({ length: missing }, () => addClient(makeWireguardKeys().publicKey)));
    const phone = await addPhone();
    await allow(phone.id, ada.peerId);
    await answers({ from: phone.host, to: ada.host, address: ada.ipv4 });
    expect(await phone.plain.newestHandshakeAtMs()).toBeGreaterThan(0);
    expect(await clientCount()).toBe(total);
    await phone.plain.program.stop();
  }
  expect(grace.program.isRunning()).toBe(true);
});

async function answers(road: Parameters<typeof countPings>[0]): Promise<void> {
  await eventually(`an answer of ${road.address}`, { withinMs: 10_000, everyMs: 50 }, async () =>
    (await countPings(road, 1, 50)).received === 1 ? true : undefined,
  );
}

async function clientCount(): Promise<number> {
  const { client, networkId } = mesh.owned;
  const page = await client.get(`/networks/${networkId}/peers?kind=client&limit=500`);
  return z.object({ items: z.array(z.unknown()) }).parse(page).items.length;
}

async function allow(source: string, destination: string): Promise<string> {
  const { client, networkId } = mesh.owned;
  const rule = { source: { kind: "peer", id: source }, destination: { kind: "peer", id: destination } };
  return z
    .object({ id: z.string() })
    .parse(await client.post(`/networks/${networkId}/rules`, { ...rule, direction: "one-way" })).id;
}

async function addClient(publicKey: Buffer): Promise<z.infer<typeof ClientSchema>> {
  const { client, networkId } = mesh.owned;
  made += 1;
  const wanted = { name: `phone-${made}`, publicKey: publicKey.toString("base64"), gatewayPeerId: mesh.grace.peerId };
  return ClientSchema.parse(await client.post(`/networks/${networkId}/clients`, wanted));
}

type Phone = { readonly id: string; readonly ipv4: string; readonly host: Host; readonly plain: PlainPeer };

/** A host of its own behind a cable to grace, with nothing but plain WireGuard on it, set up as its configuration says. */
async function addPhone(): Promise<Phone> {
  const { lab, grace, owned } = mesh;
  const keys = makeWireguardKeys();
  const { id, ipv4 } = await addClient(keys.publicKey);
  const config = ConfigSchema.parse(await owned.client.get(`/peers/${id}/client-config`));
  const host = await lab.host(`phone${made}`);
  const [near, far] = [`203.0.113.${String(4 * phones + 1)}/30`, `203.0.113.${String(4 * phones + 2)}/30`];
  phones += 1;
  await lab.cable(
    { host: grace.host, interfaceName: `air${String(phones)}`, addresses: [near] },
    { host, interfaceName: "air0", addresses: [far] },
    "veth",
  );
  const plain = await startPlainPeer("wireguard-go", {
    host,
    interfaceName: `c${String(process.pid)}${String.fromCharCode(96 + phones)}`,
    keys,
    listenPort: 51_820,
    addresses: config.addresses,
    mtu: config.mtu,
    peer: {
      publicKey: Buffer.from(config.gatewayPublicKey, "base64"),
      allowedIps: config.allowedIps,
      endpoint: `${near.split("/")[0] ?? ""}:51820`,
    },
  });
  const device = `c${String(process.pid)}${String.fromCharCode(96 + phones)}`;
  for (const range of config.allowedIps) await host.must("ip", ["route", "add", range, "dev", device]);
  return { id, ipv4, host, plain };
}

let phones = 0;
const RulesSchema = z.object({ items: z.array(z.object({ id: z.string() })) });
const ClientSchema = z.object({ id: z.string(), ipv4: z.string() });
const ConfigSchema = z.object({
  addresses: z.array(z.string()),
  mtu: z.number(),
  gatewayPublicKey: z.string(),
  allowedIps: z.array(z.string()),
});
