import { eventually } from "../../harness/eventually.ts";
import { startPlainPeer } from "../../harness/plain-wireguard.ts";
import type { Program } from "../../harness/programs.ts";
import { providePlainWireguard, type PlainKind } from "../../harness/provide-plain.ts";
import { makeWireguardKeys } from "../../harness/wireguard-keys.ts";
import { answersPing } from "../load/ping.ts";
import { INNER_MTU } from "../settings.ts";
import { UNDERLAY_ADDRESSES, type Site } from "../site.ts";
import type { Contender, Started } from "./contender.ts";

/** A plain WireGuard implementation on both ends. */
export function plainContender(kind: PlainKind): Contender {
  return {
    name: kind,
    async start(site) {
      const provided = await providePlainWireguard(kind);
      return "reason" in provided ? { ok: false, reason: provided.reason } : startPair(kind, site);
    },
  };
}

async function startPair(kind: PlainKind, site: Site): Promise<Started> {
  pairCount += 1;
  const stem = `w${String(process.pid)}${String.fromCharCode(96 + pairCount)}`;
  const keys = { a: makeWireguardKeys(), b: makeWireguardKeys() };
  const programs: Program[] = [];
  for (const [end, other] of [
    ["a", "b"],
    ["b", "a"],
  ] as const) {
    const peer = await startPlainPeer(kind, {
      host: site[end],
      interfaceName: stem + end,
      keys: keys[end],
      listenPort: LISTEN_PORT,
      addresses: [`${V4[end]}/24`, `${V6[end]}/64`],
      mtu: INNER_MTU,
      peer: {
        publicKey: keys[other].publicKey,
        allowedIps: [`${V4[other]}/32`, `${V6[other]}/128`],
        endpoint: `${UNDERLAY_ADDRESSES[other]}:${String(LISTEN_PORT)}`,
      },
    });
    programs.push(peer.program);
  }
  await eventually(`a first ping through ${kind}`, { withinMs: 20_000 }, async () =>
    (await answersPing(site.a, V4.b)) ? true : undefined,
  );
  return {
    ok: true,
    tunnel: {
      interfaces: { a: `${stem}a`, b: `${stem}b` },
      v4: V4,
      v6: V6,
      daemonPids: programs.map((program) => program.pid),
      whyBroken: () => {
        const dead = programs.find((program) => !program.isRunning());
        return dead === undefined ? undefined : `${dead.name} ended: ${dead.logs().slice(-300)}`;
      },
      stop: async () => {
        await Promise.all(programs.map((program) => program.stop()));
      },
    },
  };
}

const V4 = { a: "10.9.0.1", b: "10.9.0.2" } as const;
const V6 = { a: "fd09::1", b: "fd09::2" } as const;
const LISTEN_PORT = 51_820;
let pairCount = 0;
