import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

import { eventually } from "../harness/eventually.ts";
import { HUB_ADDRESS, startLabNetwork, startMesh, stopMesh } from "../harness/mesh.ts";
import type { Host } from "../harness/namespaces.ts";
import { withResolver, type ResolvingHost } from "../harness/own-resolver.ts";
import { startProgram } from "../harness/programs.ts";
import { repositoryPath } from "../harness/repository.ts";
import { whyNoMesh } from "../harness/tools.ts";

const BEFORE = `# of this host\nnameserver ${HUB_ADDRESS}\noptions edns0\n`;
const FAR_ADDRESS = "203.0.113.5";
const NAMES = { WEFT_DNS: "auto" };

test("F-C6 F-C8 CP-72 ND-21 a host asks its agent for names, and has its resolver back however the agent ends", async ({
  skip,
}) => {
  const reason = whyNoMesh();
  if (reason !== undefined) skip(reason);
  const machine = await readFile("/etc/resolv.conf", "utf8");
  let upstream: ReturnType<typeof startProgram> | undefined;
  let adaHost: ResolvingHost | undefined;
  try {
    const network = async () => {
      const { lab, hub, hosts } = await startLabNetwork();
      upstream = startProgram({
        name: "nameserver",
        program: process.execPath,
        args: [repositoryPath("e2e", "harness", "answer-names.mjs"), HUB_ADDRESS, FAR_ADDRESS],
        host: hub,
      });
      await upstream.waitForLine("answers names", 30_000, (line) => (line === "answers names" ? true : undefined));
      const own = await Promise.all(hosts.map((host) => withResolver(host, BEFORE)));
      [adaHost] = own;
      return { lab, hub, hosts: own };
    };
    const { ada, grace, owned } = await startMesh({ network, ada: NAMES, grace: NAMES });
    const host = adaHost ?? failed("ada has a resolver of its own");
    const asks = () =>
      eventually("the host asks its agent", { withinMs: 30_000 }, async () =>
        (await host.resolvConf()).includes(`nameserver ${ada.ipv4}`) ? true : undefined,
      );

    await asks();
    expect(await addressesOf(host, "grace.weft.internal")).toEqual([grace.ipv4]);
    expect(await addressesOf(host, "grace")).toEqual([grace.ipv4]);
    const record = { name: "db", type: "A", value: "198.51.100.7" };
    await owned.client.post(`/networks/${owned.networkId}/dns/records`, record);
    await eventually("the new record", { withinMs: 30_000 }, async () =>
      (await addressesOf(host, "db.weft.internal")).includes("198.51.100.7") ? true : undefined,
    );
    expect(await addressesOf(host, "nobody.weft.internal")).toEqual([]);
    expect(await addressesOf(host, "far.example")).toEqual([FAR_ADDRESS]);
    const status = JSON.parse((await ada.weft("status", "--json")).stdout);
    expect(status.names).toMatchObject({ domain: "weft.internal", host: "file", records: 1 });
    expect(status.names.listening).toEqual([ada.ipv4, ada.ipv6]);
    expect(status.problems).toEqual([]);

    ada.program.signal("SIGKILL");
    await ada.program.ended;
    await eventually("the resolver file from before", { withinMs: 30_000 }, async () =>
      (await host.resolvConf()) === BEFORE ? true : undefined,
    );
    expect(await addressesOf(host, "far.example")).toEqual([FAR_ADDRESS]);

    const again = await ada.up();
    await asks();
    await again.program.stop();
    expect(await host.resolvConf()).toBe(BEFORE);
    expect(upstream?.logs()).toContain("asked far.example");
    expect(upstream?.logs()).not.toContain("weft.internal");
    expect(await readFile("/etc/resolv.conf", "utf8")).toBe(machine);
  } finally {
    await stopMesh();
  }
});

/** What a program of the host gets for a name. */
async function addressesOf(host: Host, name: string): Promise<string[]> {
  const { stdout } = await host.run("getent", ["ahostsv4", name]);
  return [...new Set(stdout.split("\n").flatMap((line) => line.split(/\s+/)[0] || []))];
}

function failed(what: string): never {
  throw new Error(`expected: ${what}`);
}
