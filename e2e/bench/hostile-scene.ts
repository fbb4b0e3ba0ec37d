import { setTimeout as pause } from "node:timers/promises";

import { argv } from "../harness/argv.ts";
import { eventually } from "../harness/eventually.ts";
import { createLab, type Host, type Lab } from "../harness/namespaces.ts";
import { startProgram } from "../harness/programs.ts";
import { residentBytes } from "../harness/process-usage.ts";
import { makeWireguardKeys } from "../harness/wireguard-keys.ts";
import type { EndpointState } from "../interop/endpoint-settings.ts";
import { startWeftPeer, type WeftPeer } from "../interop/weft-peer.ts";
import { startFlood, type FloodResult } from "./load/flood.ts";
import { hostileDatagrams, recordDatagrams, type HostileKind } from "./load/hostile-datagrams.ts";
import { answersPing } from "./load/ping.ts";
import { INNER_MTU } from "./settings.ts";

/** Two friends with a tunnel, and a stranger on a link of its own to one of them. */
export type HostileScene = {
  readonly lab: Lab;
  readonly friend: Host;
  readonly target: Host;
  readonly daemon: WeftPeer;
  /** The overlay address of the target. */
  readonly address: string;
  readonly datagrams: ReadonlyMap<HostileKind, readonly Buffer[]>;
  /** Sends datagrams of some kinds to the target, also in the name of the friend, and says what became of them. */
  readonly flood: (wanted: FloodWanted) => Promise<FloodOutcome>;
};

export type FloodWanted = {
  readonly kinds: readonly HostileKind[];
  readonly perSecond: number;
  readonly seconds: number;
  readonly during?: () => Promise<void>;
};

export type FloodOutcome = FloodResult & {
  /** What the target's data plane dropped meanwhile, by reason, from whomever it came. */
  readonly drops: Readonly<Record<string, number>>;
  /** Datagrams that the target's kernel dropped because its socket was full. A merged one counts once. */
  readonly droppedByKernel: number;
  readonly rssGrowthMb: number;
};

/** Builds the scene: a working tunnel, and a record of real datagrams for replays. */
export async function setHostileScene(): Promise<HostileScene> {
  const lab = await createLab();
  const [friend, target, stranger] = [await lab.host("friend"), await lab.host("target"), await lab.host("stranger")];
  await lab.cable(
    { host: friend, interfaceName: "eth0", addresses: [`${FRIEND}/24`] },
    { host: target, interfaceName: "eth0", addresses: [`${TARGET}/24`] },
    "veth",
  );
  await lab.cable(
    { host: stranger, interfaceName: "eth0", addresses: ["198.51.100.1/24"] },
    { host: target, interfaceName: "eth1", addresses: ["198.51.100.2/24"] },
    "veth",
  );
  // The stranger may use the friend's address, and the target takes packets from wherever they come.
  await stranger.must("ip", argv`route add local ${FRIEND} dev lo`);
  await stranger.must("ip", argv`route add ${TARGET} via 198.51.100.2`);
  for (const name of ["all", "eth0", "eth1"])
    await target.must("sysctl", argv`-q -w net.ipv4.conf.${name}.rp_filter=0`);
  const { daemon, keys } = await startTunnel(friend, target);
  const seen = await recordDatagrams({ host: target, interfaceName: "eth0", port: PORT }, () =>
    friend.must("ping", argv`-n -q -c 1000 -i 0.002 -s 200 ${OVERLAY.target}`),
  );
  const datagrams = await hostileDatagrams(keys.publicKey, seen);
  const flood = async ({ kinds, perSecond, seconds, during }: FloodWanted): Promise<FloodOutcome> => {
    const before = await look(target, daemon);
    const running = await startFlood({
      from: stranger,
      to: TARGET,
      port: PORT,
      datagrams: kinds.flatMap((kind) => datagrams.get(kind) ?? []),
      perSecond,
      seconds,
      sources: { first: FRIEND, count: 1 },
    });
    await during?.();
    const result = await running.done;
    await pause(DRAIN_MS);
    const after = await look(target, daemon);
    return {
      ...result,
      drops: difference(after.drops, before.drops),
      droppedByKernel: after.kernel - before.kernel,
      rssGrowthMb: after.rssMb - before.rssMb,
    };
  };
  return { lab, friend, target, daemon, address: OVERLAY.target, datagrams, flood };
}

async function startTunnel(friend: Host, target: Host) {
  const keys = { friend: makeWireguardKeys(), target: makeWireguardKeys() };
  const common = { listenPort: PORT, mtu: INNER_MTU };
  const stem = `x${String(process.pid)}`;
  const daemon = await startWeftPeer({
    ...common,
    host: target,
    interfaceName: `${stem}t`,
    keys: keys.target,
    addresses: [`${OVERLAY.target}/32`],
    peer: { publicKey: keys.friend.publicKey, allowedIps: [`${OVERLAY.friend}/32`] },
  });
  await startWeftPeer({
    ...common,
    host: friend,
    interfaceName: `${stem}f`,
    keys: keys.friend,
    addresses: [`${OVERLAY.friend}/32`],
    peer: {
      publicKey: keys.target.publicKey,
      allowedIps: [`${OVERLAY.target}/32`],
      endpoint: `${TARGET}:${String(PORT)}`,
    },
  });
  await eventually("a first answer", { withinMs: 20_000 }, async () =>
    (await answersPing(friend, OVERLAY.target)) ? true : undefined,
  );
  const server = startProgram({ name: "iperf3", program: "iperf3", args: argv`--server --forceflush`, host: target });
  await server.waitForLine("listening", 5_000, (line) => (line.includes("Server listening") ? true : undefined));
  return { daemon, keys: keys.target };
}

async function look(target: Host, daemon: WeftPeer) {
  const state = await daemon.state();
  const snmp = await target.must("cat", ["/proc/net/snmp"]);
  const [names, values] = snmp.split("\n").filter((line) => line.startsWith("Udp: "));
  const column = (names ?? "").split(" ").indexOf("RcvbufErrors");
  return {
    drops: dropsOf(state),
    kernel: Number((values ?? "").split(" ")[column] ?? 0),
    rssMb: residentBytes(daemon.program.pid) / 1e6,
  };
}

/**
 * Everything that the data plane dropped or answered with a cookie instead of work.
 *
 * Drops of known peers are in the totals too; what did not fit the queue to the slow path is counted by the engine.
 */
function dropsOf({ totals, handshakes }: EndpointState): Record<string, number> {
  const fast = Object.entries(totals).filter(([name]) => name.startsWith("drop") || REFUSED_HANDSHAKES.has(name));
  const slow = Object.entries(handshakes).filter(([name]) => name.startsWith("dropped") && name !== "droppedQueueFull");
  return Object.fromEntries([...fast, ...slow]);
}

function difference(
  after: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): Record<string, number> {
  const pairs = Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== 0));
}

const REFUSED_HANDSHAKES = new Set(["handshakesBadMac", "handshakesDropped", "cookiesWanted"]);
const FRIEND = "192.0.2.1";
const TARGET = "192.0.2.2";
const OVERLAY = { friend: "10.9.0.1", target: "10.9.0.2" };
const PORT = 51_820;
/** The data plane may still be working off what the kernel holds. */
const DRAIN_MS = 1_000;
