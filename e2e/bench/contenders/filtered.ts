import { eventually } from "../../harness/eventually.ts";
import { builtProgram } from "../../harness/repository.ts";
import { makeWireguardKeys } from "../../harness/wireguard-keys.ts";
import { startWeftPeer, whyNoDataplane, type WeftPeer } from "../../interop/weft-peer.ts";
import { answersPing } from "../load/ping.ts";
import { INNER_MTU } from "../settings.ts";
import { UNDERLAY_ADDRESSES, type Site } from "../site.ts";
import type { Contender, Started } from "./contender.ts";

/**
 * Our data plane without a control plane, which would not take so many rules of one network: with one rule, with many that
 * all come before the one that allows, and with many flows that the filter remembers.
 */
export function filteredContenders(): Contender[] {
  return VARIANTS.map((variant) => ({ name: variant.name, start: (site) => startPair(site, variant) }));
}

type Variant = { readonly name: string; readonly rules: number; readonly flows: number };

async function startPair(site: Site, { name, rules, flows }: Variant): Promise<Started> {
  const reason = whyNoDataplane();
  if (reason !== undefined) return { ok: false, reason };
  const keys = { a: makeWireguardKeys(), b: makeWireguardKeys() };
  const ends: WeftPeer[] = [];
  for (const [end, other] of [
    ["a", "b"],
    ["b", "a"],
  ] as const) {
    ends.push(
      await startWeftPeer({
        host: site[end],
        interfaceName: interfaceOf(rules, flows, end),
        keys: keys[end],
        listenPort: LISTEN_PORT,
        addresses: [`${V4[end]}/24`, `${V6[end]}/64`],
        mtu: INNER_MTU,
        filterRules: rules,
        peer: {
          publicKey: keys[other].publicKey,
          allowedIps: [`${V4[other]}/32`, `${V6[other]}/128`],
          endpoint: `${UNDERLAY_ADDRESSES[other]}:${String(LISTEN_PORT)}`,
        },
      }),
    );
  }
  await eventually(`a first ping through ${name}`, { withinMs: 20_000 }, async () =>
    (await answersPing(site.a, V4.b)) ? true : undefined,
  );
  if (flows > 0) await openFlows(site, ends, flows);
  return {
    ok: true,
    tunnel: {
      interfaces: { a: interfaceOf(rules, flows, "a"), b: interfaceOf(rules, flows, "b") },
      v4: V4,
      v6: V6,
      daemonPids: ends.map(({ program }) => program.pid),
      stageNanoseconds: async () => {
        const states = await Promise.all(ends.map((end) => end.state()));
        const sums: Record<string, number> = {};
        for (const { stages } of states)
          for (const [stage, nanoseconds] of Object.entries(stages)) sums[stage] = (sums[stage] ?? 0) + nanoseconds;
        return sums;
      },
      whyBroken: () => {
        const dead = ends.find(({ program }) => !program.isRunning())?.program;
        return dead === undefined ? undefined : `${dead.name} ended: ${dead.logs().slice(-300)}`;
      },
      stop: async () => {
        await Promise.all(ends.map(({ program }) => program.stop()));
      },
    },
  };
}

/** Both ends remember them: one datagram each way is not needed, they live for three minutes. */
async function openFlows(site: Site, ends: readonly WeftPeer[], flows: number): Promise<void> {
  await eventually(`${String(flows)} flows`, { withinMs: 60_000 }, async () => {
    await site.a.must(process.execPath, [builtProgram("bench/load/open-flows.js"), V4.b, String(flows)], {
      timeoutMs: 60_000,
    });
    const states = await Promise.all(ends.map((end) => end.state()));
    return states.every(({ totals }) => (totals["flowsStarted"] ?? 0) >= flows) ? true : undefined;
  });
}

function interfaceOf(rules: number, flows: number, end: "a" | "b"): string {
  return `wf${String(rules % 97)}${String(flows % 89)}${end}`;
}

const V4 = { a: "10.9.0.1", b: "10.9.0.2" } as const;
const V6 = { a: "fd09::1", b: "fd09::2" } as const;
const LISTEN_PORT = 51_820;
const VARIANTS: readonly Variant[] = [
  { name: "weft with 1 rule", rules: 1, flows: 0 },
  { name: "weft with 10,000 rules", rules: 10_000, flows: 0 },
  { name: "weft with 100,000 flows", rules: 1, flows: 100_000 },
];
