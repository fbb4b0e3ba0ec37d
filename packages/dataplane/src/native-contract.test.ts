import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { performance } from "node:perf_hooks";
import {
  isPublicKey,
  parseEndpoint,
  parsePrefix,
  type Prefix,
  prefixParts,
  type PublicKey,
  type Result,
} from "@weft/protocol";
import { describe, expect, test } from "vitest";
import type { NativeAnswers, NativeCall } from "./contract/native-host-calls.ts";
import { ALLOW_ALL, type ContractHost, type MakeHosts, tunnelContract } from "./contract/tunnel-contract.ts";
import { createNamespace, type Namespace, whyNoNamespaces } from "./interop/namespace.ts";
import { nativeAddon } from "./native.ts";

const HOST_PROGRAM = new URL("../dist/contract/native-host.js", import.meta.url).pathname;
const FLOODER_PROGRAM = new URL("../dist/contract/flooder.js", import.meta.url).pathname;
const reason = whyNot();

describe.skipIf(reason !== null)(`the real tunnel${reason ? ` (skipped: ${reason})` : ""}`, () => {
  tunnelContract(makeWorld);

  test("a flood of initiations from strangers does not keep a peer out", async () => {
    const { hosts, stage, dispose } = await makeWorld();
    try {
      const [alice, bob] = hosts;
      await befriend(alice, bob);
      await befriend(bob, alice);
      const args = [alice.publicKey, "192.0.2.1", "51820", "4000"];
      const flooder = inNamespace(stage, 3, { path: FLOODER_PROGRAM, args });
      await once(flooder, "message");
      await new Promise((resolve) => setTimeout(resolve, 500));

      const arrived = [];
      for (const text of ["one", "two", "three"]) arrived.push(await bob.reaches(alice, { port: 7007, text }));
      const { cookiesWanted } = await alice.counters();
      if (flooder.exitCode === null) await once(flooder, "exit");

      expect(arrived).toContain(true);
      expect(cookiesWanted).toBeGreaterThan(0);
    } finally {
      await dispose();
    }
  });
});

async function befriend(here: ContractHost, there: ContractHost): Promise<void> {
  const { publicKey, endpoint, inner } = there;
  await here.replacePeers([{ publicKey, endpoints: [endpoint], allowedIps: [inner], keepaliveSeconds: 0 }]);
  await here.replaceFilter([ALLOW_ALL]);
}

type World = Awaited<ReturnType<MakeHosts>> & { readonly stage: Stage };

async function makeWorld(): Promise<World> {
  const stage = buildStage();
  const hosts = await Promise.all([startHost(stage, 1), startHost(stage, 2), startHost(stage, 3)]);
  return {
    stage,
    hosts: [hosts[0].host, hosts[1].host, hosts[2].host],
    async dispose() {
      await Promise.all(hosts.map(({ stop }) => stop()));
      for (const namespace of stage.namespaces.values()) namespace.remove();
      stage.middle.remove();
    },
  };
}

function whyNot(): string | null {
  const noNamespaces = whyNoNamespaces([]);
  if (noNamespaces) return noNamespaces;
  const addon = nativeAddon();
  if (!addon.ok) return addon.error.message;
  return existsSync(HOST_PROGRAM) ? null : "packages/dataplane is not built; run: npm run build";
}

/** Three namespaces joined by a bridge in a fourth. */
type Stage = { readonly middle: Namespace; readonly namespaces: Map<number, Namespace> };

function buildStage(): Stage {
  stages += 1;
  const name = `weft-t1-${process.pid}-${stages}`;
  const middle = createNamespace(`${name}-m`);
  middle.run("ip", "link", "add", "bridge0", "type", "bridge");
  middle.run("ip", "link", "set", "bridge0", "up");
  const namespaces = new Map<number, Namespace>();
  for (const number of [1, 2, 3]) {
    const namespace = createNamespace(`${name}-${number}`);
    const [inside, outside] = ["eth0", `host${number}`];
    execFileSync("ip", [
      "-n",
      namespace.name,
      "link",
      "add",
      inside,
      "type",
      "veth",
      "peer",
      "name",
      outside,
      "netns",
      middle.name,
    ]);
    middle.run("ip", "link", "set", outside, "master", "bridge0", "up");
    namespace.run("ip", "address", "add", `192.0.2.${number}/24`, "dev", inside);
    namespace.run("ip", "link", "set", inside, "up");
    namespaces.set(number, namespace);
  }
  return { middle, namespaces };
}

async function startHost(
  stage: Stage,
  number: number,
): Promise<{ readonly host: ContractHost; readonly stop: () => Promise<void> }> {
  const inner = prefix(`100.64.0.${number}/32`);
  const child = inNamespace(stage, number, { path: HOST_PROGRAM, args: [inner, "100.64.0.0/16"] });
  const publicKey = await readyKey(child);
  const call = caller(child);
  const host: ContractHost = {
    publicKey,
    endpoint: must(parseEndpoint(`192.0.2.${number}:51820`)),
    inner,
    replacePeers: async (peers) => void (await call({ name: "replacePeers", peers })),
    changePeers: async ({ upserts, removals }) => void (await call({ name: "changePeers", upserts, removals })),
    replaceFilter: async (rules) => void (await call({ name: "replaceFilter", rules })),
    moveInner: async (next) => void (await call({ name: "moveInner", inner: next })),
    peers: () => call({ name: "peers" }),
    events: () => call({ name: "events" }),
    counters: () => call({ name: "counters" }),
    flows: () => call({ name: "flows" }),
    flowRecords: () => call({ name: "flowRecords" }),
    close: async () => void (await call({ name: "close" })),
    async reaches(to, packet) {
      await call({ name: "say", to: prefixParts(to.inner).address, ...packet });
      const listener = listeners.get(to.publicKey);
      return (await listener?.(packet.text)) ?? false;
    },
  };
  listeners.set(publicKey, async (text) => {
    const endMs = performance.now() + ARRIVES_WITHIN_MS;
    while (performance.now() < endMs) {
      if ((await call({ name: "heard" })).includes(text)) return true;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return false;
  });
  const stop = async (): Promise<void> => {
    if (child.connected) child.disconnect();
    if (child.exitCode === null) await once(child, "exit");
  };
  return { host, stop };
}

/** A program of ours in one of the hosts' namespaces, with an IPC channel to it. */
function inNamespace(
  stage: Stage,
  number: number,
  program: { readonly path: string; readonly args: readonly string[] },
): ChildProcess {
  const namespace = stage.namespaces.get(number);
  return fork(program.path, program.args, {
    execPath: "ip",
    execArgv: ["netns", "exec", namespace?.name ?? "", process.execPath],
  });
}

async function readyKey(child: ChildProcess): Promise<PublicKey> {
  const failed = once(child, "exit").then(() => Promise.reject(new Error("the host ended before it was ready")));
  failed.catch(() => {});
  const [message]: unknown[] = await Promise.race([once(child, "message"), failed]);
  const key = typeof message === "object" && message !== null && "ready" in message ? message.ready : null;
  if (!isPublicKey(key)) throw new Error("a host says its key first");
  return key;
}

type Caller = <Name extends NativeCall["name"]>(
  call: NativeCall & { readonly name: Name },
) => Promise<NativeAnswers[Name]>;

/** Calls the other process; answers come in any order. It is our own program: what it answers needs no second check. */
function caller(child: ChildProcess): Caller {
  const waiting = new Map<
    unknown,
    { readonly resolve: (value: never) => void; readonly reject: (error: Error) => void }
  >();
  let lastId = 0;
  child.on("message", (message: unknown) => {
    if (typeof message !== "object" || message === null || !("id" in message) || !("value" in message)) return;
    waiting.get(message.id)?.resolve(message.value as never);
    waiting.delete(message.id);
  });
  child.on("exit", (code, signal) => {
    for (const { reject } of waiting.values())
      reject(new Error(`the host ended with ${signal ?? code} instead of an answer`));
  });
  return (call) =>
    new Promise((resolve, reject) => {
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      child.send({ id: lastId, call });
    });
}

function prefix(text: string): Prefix {
  return must(parsePrefix(text));
}

function must<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error("a literal of this test is wrong");
  return result.value;
}

const listeners = new Map<PublicKey, (text: string) => Promise<boolean>>();
const ARRIVES_WITHIN_MS = 1_500;
let stages = 0;
