/**
 * What peers cost that are known but silent.
 *
 * Usage: node --expose-gc idle-peers.js native INTERFACE COUNT
 *        node --expose-gc idle-peers.js change INTERFACE COUNT
 * "native" gives peers to the addon alone and prints {"bytesPerPeer"}: growth of resident memory by the peers, without
 * the JavaScript objects of the layers above. "change" makes a whole tunnel with that many peers, changes single peers and
 * prints {"p50Us", "p99Us", "changes"}: the time until the engine has taken each change.
 */
import { randomBytes } from "node:crypto";
import { pathToFileURL } from "node:url";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";

import { Secret } from "@weft/protocol";

import { repositoryPath } from "../../harness/repository.ts";
import { percentile, round } from "../statistics.ts";

async function measureNative(tunName: string, peers: number): Promise<void> {
  const { Engine } = NativeModule.parse(await load("native", "npm", "index.js"));
  const commands = CommandModule.parse(await load("native", "npm", "examples", "commands.mjs"));
  const engine = new Engine({ tunName, tunMtu: 1_420, listenPort: 0, publicKey: randomBytes(32) }, () => undefined);
  const batch = commands.batch(
    ...Array.from({ length: peers }, (_, peer) => peer).flatMap((peer) => [
      commands.addPeer(peer, 25),
      commands.setAllowedIps(peer, allowedIps(peer)),
      commands.setEndpoint(peer, "192.0.2.2", 1_024 + (peer % 60_000)),
    ]),
  );
  const rows = new BigUint64Array(8);
  await settle();
  const before = residentNow();
  engine.apply(batch);
  // Rows that do not fit are asked for as a negative number: the engine knows all peers then.
  while (Math.abs(engine.readPeerCounters(rows)) < peers) await pause(5);
  await settle();
  const bytesPerPeer = (residentNow() - before) / peers;
  engine.close();
  process.stdout.write(`${JSON.stringify({ bytesPerPeer: round(bytesPerPeer) })}\n`);
}

async function measureChanges(tunName: string, peers: number): Promise<void> {
  const { createTunnel } = DataplaneModule.parse(await load("packages", "dataplane", "dist", "index.js"));
  const created = createTunnel({
    interfaceName: tunName,
    mtu: 1_420,
    listenPort: 0,
    privateKey: new Secret(new Uint8Array(randomBytes(32))),
    addresses: ["10.15.0.1/32"],
    routes: ["10.0.0.0/8"],
    onEvent: () => undefined,
  });
  if (!created.ok) throw new Error(`no tunnel: ${JSON.stringify(created.error)}`);
  const tunnel = created.value;
  const all = Array.from({ length: peers }, (_, index) => peerAt(index));
  expectOk(tunnel.replacePeers(all));
  await settle();
  const times: number[] = [];
  for (let turn = 0; turn < CHANGES; turn += 1) {
    const one = all[(turn * 7_919) % peers];
    if (one === undefined) break;
    // A new address, gone, and back as it was: what maps of a living network change.
    for (const change of [
      { upserts: [{ ...one, endpoints: ["192.0.2.77:4000"] }], removals: [] },
      { upserts: [], removals: [one.publicKey] },
      { upserts: [one], removals: [] },
    ]) {
      const startedMs = performance.now();
      expectOk(tunnel.changePeers(change));
      times.push((performance.now() - startedMs) * 1_000);
    }
    if (turn % 50 === 0) await pause(1);
  }
  tunnel.close();
  const [p50Us, p99Us] = [round(percentile(times, 0.5)), round(percentile(times, 0.99))];
  process.stdout.write(`${JSON.stringify({ p50Us, p99Us, changes: times.length })}\n`);
}

function peerAt(index: number) {
  return {
    publicKey: randomBytes(32).toString("base64"),
    allowedIps: allowedIps(index),
    endpoints: [`192.0.2.2:${String(1_024 + (index % 60_000))}`],
    keepaliveSeconds: 0,
  };
}

function allowedIps(index: number): string[] {
  const low = `${String((index >> 8) & 255)}.${String(index & 255)}`;
  return [`10.${String(16 + (index >> 16))}.${low}/32`, `fd09::${index.toString(16)}/128`];
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    globalThis.gc?.();
    await pause(100);
  }
}

function residentNow(): number {
  return process.memoryUsage.rss();
}

function load(...parts: readonly string[]): Promise<unknown> {
  return import(pathToFileURL(repositoryPath(...parts)).href);
}

function expectOk(step: Step): void {
  if (!step.ok) throw new Error(`refused: ${JSON.stringify(step.error)}`);
}

function usage(): void {
  process.stderr.write("usage: idle-peers native|change INTERFACE COUNT\n");
  process.exitCode = 2;
}

type Step = { readonly ok: boolean; readonly error?: unknown };
type Tunnel = {
  readonly replacePeers: (peers: readonly object[]) => Step;
  readonly changePeers: (change: object) => Step;
  readonly close: () => void;
};
type NativeEngine = {
  readonly apply: (batch: Uint8Array) => void;
  readonly readPeerCounters: (rows: BigUint64Array) => number;
  readonly close: () => void;
};
const isFunction = (value: unknown): boolean => typeof value === "function";
const NativeModule = z.object({
  Engine: z.custom<new (options: object, onEvents: () => void) => NativeEngine>(isFunction),
});
const CommandModule = z.object({
  batch: z.custom<(...records: readonly Uint8Array[]) => Uint8Array>(isFunction),
  addPeer: z.custom<(peer: number, keepaliveSeconds: number) => Uint8Array>(isFunction),
  setAllowedIps: z.custom<(peer: number, cidrs: readonly string[]) => Uint8Array>(isFunction),
  setEndpoint: z.custom<(peer: number, address: string, port: number) => Uint8Array>(isFunction),
});
const DataplaneModule = z.object({
  createTunnel:
    z.custom<
      (
        options: object,
      ) => { readonly ok: true; readonly value: Tunnel } | { readonly ok: false; readonly error: unknown }
    >(isFunction),
});
const CHANGES = 300;

const [mode, interfaceName, countText] = process.argv.slice(2);
const count = Number.parseInt(countText ?? "", 10);
if (interfaceName === undefined || !Number.isInteger(count)) usage();
else if (mode === "native") await measureNative(interfaceName, count);
else if (mode === "change") await measureChanges(interfaceName, count);
else usage();
