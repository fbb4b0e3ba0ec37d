import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";

import { eventually } from "../harness/eventually.ts";
import { startMesh, stopMesh } from "../harness/mesh.ts";
import type { Host } from "../harness/namespaces.ts";
import type { OwnedNetwork } from "../harness/server.ts";
import { findProgram, whyNoMesh } from "../harness/tools.ts";
import { countPings, exchangeDatagrams, transferBytes } from "../harness/traffic.ts";

const STRONG = `[Interface]
Jc = 4
Jmin = 40
Jmax = 300
S1 = 32
S2 = 32
S3 = 32
S4 = 32
HeaderProtectionKey = AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
I1 = <r 40><b 0x0100><rc 12>
RandomTrailers = on
`;

test("two agents under one profile exchange every size of packet, and nothing on the wire has a type of WireGuard", async ({
  skip,
}) => {
  const reason = whyNoMesh();
  if (reason !== undefined) skip(reason);
  const folder = await mkdtemp(join(tmpdir(), "weft-conceal-"));
  const file = join(folder, "conceal.conf");
  await writeFile(file, STRONG);
  try {
    const env = { WEFT_CONCEAL: file };
    const mesh = await startMesh({ ada: env, grace: env });

    const capture = seenByOthers(mesh.grace.host, join(folder, "seen.pcap"));
    for (const road of [mesh.road, mesh.wayBack]) {
      expect(await transferBytes(road, 100_000_000)).toMatchObject({ receivedBytes: 100_000_000, identical: true });
      expect(await exchangeDatagrams(road, 1_340)).toMatchObject({ identical: 1_341, altered: 0, lost: 0 });
    }
    expect(await countPings(mesh.road, 10, 50)).toEqual({ sent: 10, received: 10 });
    const types = await capture;
    expect(types.filter((type) => type >= 1 && type <= 4)).toEqual([]);
    expect(new Set(types).size).toBe(types.length);
  } finally {
    await stopMesh();
    await rm(folder, { recursive: true });
  }
});

test("a profile rolled out from the control plane disguises both agents at once, and a roll-back undoes it", async ({
  skip,
}) => {
  const reason = whyNoMesh();
  if (reason !== undefined) skip(reason);
  const folder = await mkdtemp(join(tmpdir(), "weft-conceal-"));
  try {
    const mesh = await startMesh();
    const { client, networkId } = mesh.owned;
    const made = await client.post(`/networks/${networkId}/conceal-profiles`, { name: "strong", preset: "strong" });
    const { id: profileId } = z.object({ id: z.string() }).parse(made);

    await client.put(`/networks/${networkId}/conceal`, { profileId });
    await untilBothRun(mesh.owned, 1);
    expect(await countPings(mesh.road, 10, 50)).toEqual({ sent: 10, received: 10 });
    const capture = seenByOthers(mesh.grace.host, join(folder, "seen.pcap"));
    expect(await transferBytes(mesh.road, 10_000_000)).toMatchObject({ receivedBytes: 10_000_000, identical: true });
    expect((await capture).filter((type) => type >= 1 && type <= 4)).toEqual([]);

    await client.post(`/networks/${networkId}/conceal/roll-back`);
    await untilBothRun(mesh.owned, null);
    expect(await countPings(mesh.wayBack, 10, 50)).toEqual({ sent: 10, received: 10 });
    const plain = seenByOthers(mesh.grace.host, join(folder, "plain.pcap"));
    expect(await transferBytes(mesh.road, 10_000_000)).toMatchObject({ receivedBytes: 10_000_000, identical: true });
    expect((await plain).filter((type) => type < 1 || type > 4)).toEqual([]);
  } finally {
    await stopMesh();
    await rm(folder, { recursive: true });
  }
});

const NodesSchema = z.object({
  items: z.array(z.object({ state: z.string(), wanted: z.object({ version: z.number() }).nullable() })),
});

async function untilBothRun({ client, networkId }: OwnedNetwork, version: number | null): Promise<void> {
  await eventually("both agents to run what they are told", { withinMs: 60_000 }, async () => {
    const { items } = NodesSchema.parse(await client.get(`/networks/${networkId}/conceal/nodes`));
    const runs = items.filter(({ state, wanted }) => state === "runs" && (wanted?.version ?? null) === version);
    return runs.length === 2 ? true : undefined;
  });
}

/** The first four bytes of two hundred datagrams as a listener on the way sees them. */
async function seenByOthers(host: Host, file: string): Promise<number[]> {
  if (findProgram("tcpdump") === undefined) return [];
  await host.must("tcpdump", ["-i", "eth0", "-c", "200", "-w", file, "ip and udp port 51820"]);
  const bytes = await readFile(file);
  const types: number[] = [];
  for (let at = PCAP_HEADER; at + PCAP_RECORD <= bytes.length; at += PCAP_RECORD + bytes.readUInt32LE(at + 8)) {
    types.push(bytes.readUInt32LE(at + PCAP_RECORD + HEADERS_BYTES));
  }
  return types;
}

const PCAP_HEADER = 24;
const PCAP_RECORD = 16;
/** Ethernet, IPv4 and UDP. */
const HEADERS_BYTES = 42;
