import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";

import { createLab, type Lab } from "../../harness/namespaces.ts";
import {
  startPlainPeer,
  type ExtraPeer,
  type PlainPeer,
  type PlainPeerOptions,
} from "../../harness/plain-wireguard.ts";
import { PLAIN_KINDS, providePlainWireguard } from "../../harness/provide-plain.ts";
import { residentBytes } from "../../harness/process-usage.ts";
import { builtProgram } from "../../harness/repository.ts";
import { makeWireguardKeys } from "../../harness/wireguard-keys.ts";
import { startWeftPeer, whyNoDataplane } from "../../interop/weft-peer.ts";
import type { RoundSample } from "../ratios.ts";
import { plainSamples, toCaseReport, type CaseReport, type Skipped } from "../report.ts";
import { INNER_MTU } from "../settings.ts";
import type { SuiteContext } from "./suite-run.ts";

type Starter = {
  readonly name: string;
  readonly whyNot: () => Promise<string | undefined>;
  readonly start: (options: PlainPeerOptions) => Promise<PlainPeer>;
};

/**
 * What peers cost that are known but silent.
 *
 * For the resident memory our row is the data plane in a Node process without the agent around it, because the others
 * have no control plane either.
 */
export async function measureManyPeers(
  context: SuiteContext,
): Promise<{ readonly cases: readonly CaseReport[]; readonly skipped: readonly Skipped[] }> {
  const cases: CaseReport[] = [];
  const skipped: Skipped[] = [];
  for (const starter of starters()) {
    const counts = RESIDENT_CASES.filter(([name]) => context.wants(name, starter.name));
    const reason = counts.length === 0 ? undefined : await starter.whyNot();
    if (reason !== undefined) skipped.push({ contender: starter.name, case: "rss with many peers", reason });
    if (reason !== undefined) continue;
    for (const [name, count] of counts) {
      const megabytes = await measureOne(starter, count);
      context.progress(`rss with ${String(count)} peers, ${starter.name}: ${megabytes.toFixed(1)} MB`);
      cases.push(toCaseReport({ name, contender: starter.name, unit: "MB", samples: plainSamples([megabytes]) }));
    }
  }
  return { cases: [...cases, ...(await measureOwnPeers(context))], skipped };
}

/** What only our own data plane tells: the native part of a peer, and the time that one change takes. */
async function measureOwnPeers({ wants, options, progress }: SuiteContext): Promise<CaseReport[]> {
  const cases: CaseReport[] = [];
  for (const { name, mode, unit, read } of OWN_CASES.filter((one) => wants(one.name, "weft"))) {
    const samples: RoundSample[] = [];
    for (let turn = 1; turn <= options.rounds; turn += 1) {
      const figures = await runIdlePeers(mode);
      samples.push({ round: turn, ...read(figures) });
      progress(`${name} ${String(turn)}/${String(options.rounds)}: ${samples.at(-1)?.value.toFixed(1) ?? ""} ${unit}`);
    }
    cases.push(toCaseReport({ name, contender: "weft", unit, samples }));
  }
  return cases;
}

async function runIdlePeers(mode: "native" | "change"): Promise<z.infer<typeof IdlePeersOutput>> {
  const lab = await createLab();
  try {
    started += 1;
    const host = await lab.host("many");
    const program = builtProgram("bench/load/idle-peers.js");
    const name = `m${String(process.pid)}x${String(started)}`;
    const args = ["--expose-gc", program, mode, name, String(MANY)];
    return IdlePeersOutput.parse(JSON.parse(await host.must(process.execPath, args)));
  } finally {
    await lab.dispose();
  }
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

type OwnCase = {
  readonly name: string;
  readonly mode: "native" | "change";
  readonly unit: string;
  readonly read: (figures: z.infer<typeof IdlePeersOutput>) => Omit<RoundSample, "round">;
};

const IdlePeersOutput = z.object({
  bytesPerPeer: z.number().optional(),
  p50Us: z.number().optional(),
  p99Us: z.number().optional(),
});
const MANY = 10_000;
const RESIDENT_CASES = [
  ["rss-1000-peers", 1_000],
  ["rss-10000-peers", MANY],
] as const;
const OWN_CASES: readonly OwnCase[] = [
  {
    name: "bytes-per-idle-peer",
    mode: "native",
    unit: "bytes",
    read: ({ bytesPerPeer = Number.NaN }) => ({ value: bytesPerPeer, extra: {} }),
  },
  {
    name: "peer-change",
    mode: "change",
    unit: "µs p50",
    read: ({ p50Us = Number.NaN, p99Us = Number.NaN }) => ({ value: p50Us, extra: { p99: p99Us } }),
  },
];
export const MANY_PEERS_CASES = [...RESIDENT_CASES, ...OWN_CASES.map(({ name }) => [name] as const)].map(
  ([name]) => name,
);
const SETTLE_MS = 3_000;
let started = 0;
