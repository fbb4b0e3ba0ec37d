import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";

import { eventually } from "../harness/eventually.ts";
import { INSTALL_PROGRAMS, prepareHost } from "../harness/install.ts";
import { HUB_ADDRESS, startLabNetwork, stopMesh } from "../harness/mesh.ts";
import type { RestClient } from "../harness/rest-client.ts";
import { createOwner, relayInto, startServer } from "../harness/server.ts";
import { whyNoMesh } from "../harness/tools.ts";

test("a host is installed, upgraded under the same identity, and left without a trace", async ({ skip }) => {
  const reason = whyNoMesh(INSTALL_PROGRAMS);
  if (reason !== undefined) skip(reason);
  try {
    const { hub, hosts } = await startLabNetwork();
    const [ada] = hosts;
    if (!ada) throw new Error("the lab has no host");
    const server = await startServer({ env: { WEFT_PUBLIC_URL: `http://${HUB_ADDRESS}:7400` } });
    await relayInto(hub, server, HUB_ADDRESS);
    const { client, networkId } = await createOwner(server, "correct horse battery staple");
    const line = await makeJoinLine(client, networkId);
    const host = await prepareHost(ada);

    const changed = await host.runLine(line.replace(/[0-9a-f]{64}/, "0".repeat(64)));
    expect(changed.code).not.toBe(0);
    expect(await peersOf(client, networkId)).toEqual([]);
    const before = await filesBelow(host.folder);

    const first = await host.runLine(line);
    expect(first.stderr).toBe("");
    expect(first.code).toBe(0);
    const joined = await peersOf(client, networkId);
    expect(joined).toMatchObject([{ name: "ada", presence: "online" }]);
    const pid = await daemonPid(host);
    const runtime = await readFile(`/proc/${String(pid)}/cmdline`, "utf8");
    expect(runtime.split("\0").slice(0, 2)).toEqual([
      join(host.prefix, "lib", "node"),
      join(host.prefix, "lib", "weft.mjs"),
    ]);

    const second = await host.runLine(line);
    expect(second.code).toBe(0);
    expect(second.stdout).toContain("keeps its identity");
    await eventually("the upgraded host is online", { withinMs: 30_000 }, async () =>
      (await peersOf(client, networkId))[0]?.presence === "online" ? true : undefined,
    );
    expect(await peersOf(client, networkId)).toMatchObject([{ id: joined[0]?.id }]);
    expect(await daemonPid(host)).not.toBe(pid);

    const refused = await host.weft("uninstall");
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    const gone = await host.weft("uninstall", "--yes", "--json");
    expect(JSON.parse(gone.stdout)).toMatchObject({ uninstalled: true, serverTold: true, kept: [] });
    expect(await peersOf(client, networkId)).toEqual([]);
    expect((await ada.must("ip", ["-o", "link"])).includes("weft0")).toBe(false);
    expect(await filesBelow(host.folder)).toEqual(before);
  } finally {
    await stopMesh();
  }
});

async function makeJoinLine(client: RestClient, networkId: string): Promise<string> {
  const answer = await client.post(`/networks/${networkId}/enrolment-keys`, { usesMax: 1, expiresInSeconds: 3_600 });
  return z.object({ joinLine: z.string() }).parse(answer).joinLine;
}

async function peersOf(client: RestClient, networkId: string) {
  return Peers.parse(await client.get(`/networks/${networkId}/peers`)).items;
}

async function daemonPid(host: Awaited<ReturnType<typeof prepareHost>>): Promise<number> {
  const status = await host.weft("status", "--json");
  return z.object({ pid: z.number() }).parse(JSON.parse(status.stdout)).pid;
}

async function filesBelow(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).toSorted();
}

const Peers = z.object({ items: z.array(z.object({ id: z.string(), name: z.string(), presence: z.string() })) });
