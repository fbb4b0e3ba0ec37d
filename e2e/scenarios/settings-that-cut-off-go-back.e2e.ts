import { afterEach, expect, test } from "vitest";
import { z } from "zod";

import { joinHost } from "../harness/agents.ts";
import { argv } from "../harness/argv.ts";
import { cleanUpNow } from "../harness/cleanup.ts";
import { eventually } from "../harness/eventually.ts";
import { HUB_ADDRESS, startLabNetwork } from "../harness/mesh.ts";
import { createJoinKey, createOwner, relayInto, startServer } from "../harness/server.ts";
import { whyNoMesh } from "../harness/tools.ts";

afterEach(cleanUpNow);

test("AP-52 an own address that cuts a node from the server is taken back after a while, and said; peers go on being new ones", async ({
  skip,
}) => {
  const whyNot = whyNoMesh();
  if (whyNot !== undefined) skip(whyNot);
  const { hub, hosts } = await startLabNetwork();
  const server = await startServer();
  const { client } = await createOwner(server, "correct horse battery staple");
  // The hosts' own network lies inside the range, as it may when somebody chose the range without care.
  const { id: networkId } = IdSchema.parse(await client.post("/networks", { name: "wide", ipv4Range: "192.0.0.0/16" }));
  await client.post(`/networks/${networkId}/rules`, {});
  const joining = {
    serverUrl: await relayInto(hub, server, HUB_ADDRESS),
    key: await createJoinKey(client, networkId),
    client,
    networkId,
    env: { WEFT_SETTINGS_TRIAL_SECONDS: "5" },
  };
  const [ada, grace] = await Promise.all(hosts.map((host) => joinHost({ ...joining, host, name: host.label })));
  if (!ada || !grace) throw new Error("two hosts were to join");
  const addresses = async (): Promise<string> => ada.host.must("ip", argv`-4 -brief address show dev weft0`);
  const peer = async () => PeerSchema.parse(await client.get(`/peers/${ada.peerId}`));
  await eventually("proof of the first settings", { withinMs: 10_000 }, async () =>
    (await ada.host.run("test", ["-s", `${ada.stateFolder}/own-settings.bin`])).code === 0 ? true : undefined,
  );

  // The address under which ada reaches the server becomes ada's own.
  await client.post(`/peers/${ada.peerId}/move`, { address: HUB_ADDRESS });
  await eventually("the new address", { withinMs: 5_000 }, async () =>
    (await addresses()).includes(`${HUB_ADDRESS}/`) ? true : undefined,
  );
  await eventually("the previous address again", { withinMs: 10_000 }, async () =>
    (await addresses()).includes(`${ada.ipv4}/`) ? true : undefined,
  );
  const reported = await eventually("the report", { withinMs: 10_000 }, async () => {
    const { presence, problems } = await peer();
    return presence === "online" && problems.length > 0 ? problems : undefined;
  });
  expect(reported.join()).toContain("the previous ones are in use");
  expect((await ada.weft("status")).stdout).toContain("the previous ones are in use");
  expect((await peer()).ipv4).toBe(HUB_ADDRESS);

  await client.patch(`/peers/${grace.peerId}`, { name: "hopper" });
  await eventually("the peer's new name", { withinMs: 5_000 }, async () =>
    (await ada.weft("status")).stdout.includes("hopper") ? true : undefined,
  );
  expect(await addresses()).toContain(`${ada.ipv4}/`);
  // Settings that work are taken, and nothing is left to say.
  await client.post(`/peers/${ada.peerId}/move`, { address: "192.0.77.7" });
  await eventually("no problem any more", { withinMs: 10_000 }, async () =>
    (await peer()).problems.length === 0 ? true : undefined,
  );
  expect(await addresses()).toContain("192.0.77.7/");
}, 60_000);

const IdSchema = z.object({ id: z.string() });
const PeerSchema = z.object({ presence: z.string(), problems: z.array(z.string()), ipv4: z.string().nullable() });
