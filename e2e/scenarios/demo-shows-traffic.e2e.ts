import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";

import { listPeers } from "../harness/agents.ts";
import { cleanUpNow } from "../harness/cleanup.ts";
import { eventually } from "../harness/eventually.ts";
import { startProgram, type Program } from "../harness/programs.ts";
import { builtProgram } from "../harness/repository.ts";
import { createRestClient } from "../harness/rest-client.ts";
import { runCommand } from "../harness/run-command.ts";
import { whyNoMesh } from "../harness/tools.ts";

test("the demo shows two hosts with growing counters, and Ctrl-C removes everything", async ({ skip }) => {
  const reason = whyNoMesh(["unshare"]);
  if (reason !== undefined) skip(reason);
  try {
    const demo = startDemo();
    const url = await said(demo, /Dashboard\s+(\S+)/);
    const password = await said(demo, /Password\s+(\S+)/);
    const client = createRestClient(url);
    await client.post("/sessions", { login: "owner", password });
    const networks = JSON.stringify(await client.get("/networks"));
    const networkId = /"(net_[a-z0-9]+)"/.exec(networks)?.[1] ?? "";
    const first = await receivedBytes(client, networkId);
    await eventually("counters that grow", { withinMs: 40_000 }, async () =>
      (await receivedBytes(client, networkId)) > first + 100_000n ? true : undefined,
    );

    demo.signal("SIGINT");

    expect(await demo.ended).toBe(0);
    expect(foldersOf(demo)).toEqual([]);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
  } finally {
    await cleanUpNow();
  }
});

test("a demo that was killed leaves nothing that the next start does not remove", async ({ skip }) => {
  const reason = whyNoMesh(["unshare"]);
  if (reason !== undefined) skip(reason);
  try {
    const killed = startDemo();
    const url = await said(killed, /Dashboard\s+(\S+)/);
    killed.signal("SIGKILL");
    await killed.ended;
    await eventually("the killed demo's server gone", { withinMs: 10_000 }, async () =>
      fetch(`${url}/healthz`).then(
        () => undefined,
        () => true,
      ),
    );

    const next = startDemo();
    await said(next, /Password\s+(\S+)/);

    expect(foldersOf(killed)).toEqual([]);
    next.signal("SIGTERM");
    await next.ended;
    expect(foldersOf(next)).toEqual([]);
  } finally {
    await cleanUpNow();
  }
});

test("a user who is not root gets the demo through user namespaces", async ({ skip }) => {
  const reason = whyNoMesh(["unshare"]) ?? (await whyNotAsNobody());
  if (reason !== undefined) skip(reason);
  try {
    const demo = startProgram({
      name: "demo of nobody",
      program: "setpriv",
      args: [...AS_NOBODY, process.execPath, builtProgram("demo/main.js")],
      env: { WEFT_LISTEN: "127.0.0.1:0", HOME: tmpdir() },
    });
    await said(demo, /Password\s+(\S+)/);

    demo.signal("SIGTERM");

    expect(await demo.ended).toBe(0);
    expect(demo.logs()).toContain("traffic flows through the tunnel");
    expect(foldersOf(demo)).toEqual([]);
  } finally {
    await cleanUpNow();
  }
});

test("where the demo cannot work it says why in one sentence", async ({ skip }) => {
  const main = "demo/main.js";
  if (!existsSync(builtProgram(main))) skip("not built");

  const result = await runCommand(process.execPath, [builtProgram(main)], { env: { PATH: "/nowhere" } });

  expect(result.code).toBe(1);
  expect(result.stderr.trim().split("\n")).toHaveLength(1);
  expect(result.stderr).toMatch(/^The demo cannot run here: .*\.\n$/);
});

async function whyNotAsNobody(): Promise<string | undefined> {
  const readable = await runCommand("setpriv", [...AS_NOBODY, "test", "-r", builtProgram("demo/main.js")]);
  if (readable.code !== 0) return "other users cannot read this repository";
  for (const may of ["-r", "-w"]) {
    const device = await runCommand("setpriv", [...AS_NOBODY, "test", may, "/dev/net/tun"]);
    if (device.code !== 0) return "other users may not open /dev/net/tun here";
  }
  const probe = await runCommand("setpriv", [
    ...AS_NOBODY,
    "unshare",
    "--user",
    "--map-root-user",
    "--net",
    "--mount",
    "true",
  ]);
  return probe.code === 0 ? undefined : "this machine does not allow user namespaces";
}

function startDemo(): Program {
  return startProgram({
    name: "demo",
    program: process.execPath,
    args: [builtProgram("demo/main.js")],
    env: { WEFT_LISTEN: "127.0.0.1:0" },
  });
}

function said(demo: Program, pattern: RegExp): Promise<string> {
  return demo.waitForLine(String(pattern), 90_000, (line) => pattern.exec(line)?.[1]);
}

function foldersOf(demo: Program): string[] {
  return readdirSync(tmpdir()).filter((name) => name === `weft-demo-${String(demo.pid)}`);
}

async function receivedBytes(client: ReturnType<typeof createRestClient>, networkId: string): Promise<bigint> {
  const rows = await listPeers(client, networkId);
  return rows.reduce((sum, { rxBytes }) => sum + BigInt(rxBytes), 0n);
}

const AS_NOBODY = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
