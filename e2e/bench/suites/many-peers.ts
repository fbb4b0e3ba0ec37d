import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import { createLab, type Lab } from "../../harness/namespaces.ts";
import { PLAIN_KINDS, providePlainWireguard, startPlainPeer, type ExtraPeer } from "../../harness/plain-wireguard.ts";
import type { PlainPeer, PlainPeerOptions } from "../../harness/plain-wireguard.ts";
import { residentBytes } from "../../harness/process-usage.ts";
import { makeWireguardKeys } from "../../harness/wireguard-keys.ts";
import { startWeftPeer, whyNoDataplane } from "../../interop/weft-peer.ts";
import { isWanted } from "../options.ts";
import { toCaseReport, type CaseReport, type Skipped } from "../report.ts";
import { INNER_MTU } from "../settings.ts";

type Starter = {
  readonly name: string;
  readonly whyNot: () => Promise<string | undefined>;
  readonly start: (options: PlainPeerOptions) => Promise<PlainPeer>;
};

/**
 * Resident memory with many peers that are known but silent, in MB.
 *
 * Our row is the data plane in a Node process without the agent around it, because the others have no control plane either.
 */
export async function measureManyPeers(
  wanted: { readonly cases: readonly string[]; readonly contenders: readonly string[] },
  progress: (line: string) => void,
): Promise<{ readonly cases: readonly CaseReport[]; readonly skipped: readonly Skipped[] }> {
  const counts = MANY_PEERS_CASES.filter(([name]) => isWanted(name, wanted.cases));
  const cases: CaseReport[] = [];
  const skipped: Skipped[] = [];
  for (const starter of starters().filter(({ name }) => isWanted(name, wanted.contenders))) {
    const reason = await starter.whyNot();
    if (reason !== undefined) {
      skipped.push({ contender: starter.name, case: "rss with many peers", reason });
      continue;
    }
    for (const [name, count] of counts) {
      const megabytes = await measureOne(starter, count);
      progress(`rss with ${String(count)} peers, ${starter.name}: ${megabytes.toFixed(1)} MB`);
      cases.push(toCaseReport({ name, contender: starter.name, unit: "MB", runs: [megabytes] }));
    }
  }
  return { cases, skipped };
}

function starters(): Starter[] {
  return [
    { name: "weft", whyNot: () => Promise.resolve(whyNoDataplane()), start: startWeftPeer },
    ...PLAIN_KINDS.map((kind) => ({
      name: kind,
      whyNot: async () => {
        const provided = await providePlainWireguard(kind);
        return "reason" in provided ? provided.reason : undefined;
      },
      start: (options: PlainPeerOptions) => startPlainPeer(kind, options),
    })),
  ];
}

async function measureOne(starter: Starter, count: number): Promise<number> {
  const lab = await createLab();
  try {
    const peer = await starter.start(await describe(lab, count));
    await pause(SETTLE_MS);
    return residentBytes(peer.program.pid) / 1e6;
  } finally {
    await lab.dispose();
  }
}

async function describe(lab: Lab, count: number): Promise<PlainPeerOptions> {
  started += 1;
  return {
    host: await lab.host("many"),
    interfaceName: `m${String(process.pid)}x${String(started)}`,
    keys: makeWireguardKeys(),
    listenPort: 51_820,
    addresses: ["10.9.0.1/32"],
    mtu: INNER_MTU,
    peer: { publicKey: makeWireguardKeys().publicKey, allowedIps: ["10.9.0.2/32"] },
    extraPeers: Array.from({ length: count - 1 }, (_, index) => makeExtraPeer(index)),
  };
}

function makeExtraPeer(index: number): ExtraPeer {
  return {
    publicKey: randomBytes(32),
    allowedIp: `10.${String(16 + (index >> 16))}.${String((index >> 8) & 255)}.${String(index & 255)}/32`,
  };
}

/** Case names with their numbers of peers. */
export const MANY_PEERS_CASES = [
  ["rss-1000-peers", 1_000],
  ["rss-10000-peers", 10_000],
] as const;
const SETTLE_MS = 3_000;
let started = 0;
