import { setTimeout as pause } from "node:timers/promises";

import { argv } from "../harness/argv.ts";
import { eventually } from "../harness/eventually.ts";
import { createLab, type Host } from "../harness/namespaces.ts";
import { residentBytes } from "../harness/process-usage.ts";
import { startProgram, type Program } from "../harness/programs.ts";
import { churnFlows, type Road, transferBytes } from "../harness/traffic.ts";
import { makeWireguardKeys, type WireguardKeys } from "../harness/wireguard-keys.ts";
import { startWeftPeer, type WeftPeer } from "../interop/weft-peer.ts";
import type { SoakOutcome } from "./soak-outcome.ts";
import { createSoakWatch, type SoakWatch } from "./soak-watch.ts";
import { answersPing } from "./load/ping.ts";
import { INNER_MTU } from "./settings.ts";

export type SoakOptions = { readonly seconds: number; readonly progress: (line: string) => void };

type End = { readonly host: Host; readonly keys: WireguardKeys; peer: WeftPeer };
type Scene = { readonly left: End; readonly right: End; readonly startRight: () => Promise<WeftPeer> };

/** Loads a tunnel in both directions, lets flows come and go, disturbs it again and again, and watches what must stay as it is. */
export async function runSoak({ seconds, progress }: SoakOptions): Promise<SoakOutcome> {
  const lab = await createLab();
  const watch = createSoakWatch();
  const over = new AbortController();
  try {
    const scene = await setScene([await lab.host("left"), await lab.host("right")], lab.cable);
    const load = startLoad(scene, seconds);
    const churn = churnFlows(roadOf(scene), FLOWS_PER_SECOND);
    const compared = repeatTransfers(scene, watch, over.signal);
    const endMs = performance.now() + seconds * 1_000;
    const pauseMs = Math.min(DISTURB_EVERY_MS, (seconds * 1_000) / (DISTURBANCES.length + 1));
    let turn = 0;
    while (performance.now() + pauseMs < endMs) {
      await watchFor(scene, watch, pauseMs);
      const disturbance = DISTURBANCES[turn % DISTURBANCES.length];
      if (disturbance === undefined) break;
      const recoveryMs = await disturb(scene, disturbance, watch);
      turn += 1;
      progress(`${disturbance.name}: traffic after ${recoveryMs.toFixed(0)} ms`);
    }
    await watchFor(scene, watch, Math.max(1_000, endMs - performance.now()));
    over.abort();
    await compared;
    load.signal("SIGINT");
    await Promise.all([load.ended, churn.stop()]);
    return watch.outcome(turn, seconds);
  } finally {
    over.abort();
    await lab.dispose();
  }
}

/** Does one disturbance and returns how long traffic took to come back after it. */
async function disturb(scene: Scene, disturbance: Disturbance, watch: SoakWatch): Promise<number> {
  const { left } = scene;
  const before = await left.peer.state();
  await disturbance.run(scene);
  const startedMs = performance.now();
  await eventually(`traffic after ${disturbance.name}`, { withinMs: RECOVERY_MS, everyMs: 50 }, async () =>
    (await answersPing(left.host, OVERLAY.right)) ? true : undefined,
  );
  const recoveryMs = performance.now() - startedMs;
  watch.noteRecovery(recoveryMs);
  if (disturbance.takes === "the left host's network") {
    // What was reported before the first question is among the answers to the second: it waited in the same loop.
    await left.peer.state();
    watch.noteAbsence(before, await left.peer.state());
  }
  return recoveryMs;
}

type Disturbance = {
  readonly name: string;
  /** Whether a host has no network while it runs: then its sends into it are refused. */
  readonly takes: "the left host's network" | "no network";
  readonly run: (scene: Scene) => Promise<void>;
};

const DISTURBANCES: readonly Disturbance[] = [
  {
    name: "link down and up",
    takes: "the left host's network",
    run: async ({ left: { host } }) => {
      await host.must("ip", argv`link set eth0 down`);
      await pause(1_000);
      await host.must("ip", argv`link set eth0 up`);
    },
  },
  {
    name: "another address",
    takes: "the left host's network",
    run: async ({ left: { host } }) => {
      const move = async (from: string, to: string): Promise<void> => {
        await host.must("ip", argv`address delete ${from}/24 dev eth0`);
        await host.must("ip", argv`address add ${to}/24 dev eth0`);
      };
      await move(UNDERLAY.left, UNDERLAY.flapped);
      await pause(1_000);
      await move(UNDERLAY.flapped, UNDERLAY.left);
    },
  },
  {
    name: "peer restarted",
    takes: "no network",
    run: async (scene) => {
      await scene.right.peer.program.stop();
      scene.right.peer = await scene.startRight();
    },
  },
];

async function watchFor({ left, right }: Scene, watch: SoakWatch, milliseconds: number): Promise<void> {
  const untilMs = performance.now() + milliseconds;
  do {
    for (const { peer } of [left, right]) {
      const { pid } = peer.program;
      watch.look({ pid, state: await peer.state(), rssMb: residentBytes(pid) / 1e6 });
    }
    await pause(Math.min(LOOK_MS, Math.max(1, untilMs - performance.now())));
  } while (performance.now() < untilMs);
}

type LayCable = Awaited<ReturnType<typeof createLab>>["cable"];

async function setScene([leftHost, rightHost]: readonly [Host, Host], cable: LayCable): Promise<Scene> {
  await cable(
    { host: leftHost, interfaceName: "eth0", addresses: [`${UNDERLAY.left}/24`] },
    { host: rightHost, interfaceName: "eth0", addresses: [`${UNDERLAY.right}/24`] },
    "veth",
  );
  const keys = { left: makeWireguardKeys(), right: makeWireguardKeys() };
  const common = { listenPort: PORT, mtu: INNER_MTU, rekeyAfterSeconds: REKEY_SECONDS };
  const startRight = (): Promise<WeftPeer> =>
    startWeftPeer({
      ...common,
      host: rightHost,
      interfaceName: `s${String(process.pid)}r`,
      keys: keys.right,
      addresses: [`${OVERLAY.right}/32`],
      peer: {
        publicKey: keys.left.publicKey,
        allowedIps: [`${OVERLAY.left}/32`],
        endpoint: `${UNDERLAY.left}:${String(PORT)}`,
      },
    });
  const right: End = { host: rightHost, keys: keys.right, peer: await startRight() };
  const leftPeer = await startWeftPeer({
    ...common,
    host: leftHost,
    interfaceName: `s${String(process.pid)}l`,
    keys: keys.left,
    addresses: [`${OVERLAY.left}/32`],
    peer: {
      publicKey: keys.right.publicKey,
      allowedIps: [`${OVERLAY.right}/32`],
      endpoint: `${UNDERLAY.right}:${String(PORT)}`,
    },
  });
  await eventually("a first answer", { withinMs: 20_000 }, async () =>
    (await answersPing(leftHost, OVERLAY.right)) ? true : undefined,
  );
  return { left: { host: leftHost, keys: keys.left, peer: leftPeer }, right, startRight };
}

/** One stream in each direction; TCP outlives what happens below it. */
function startLoad({ left, right }: Scene, seconds: number): Program {
  startProgram({ name: "iperf3 server", program: "iperf3", args: argv`--server --forceflush`, host: right.host });
  return startProgram({
    name: "iperf3",
    program: "sh",
    args: [
      "-c",
      `sleep 1; while :; do iperf3 --client ${OVERLAY.right} --bidir --time ${String(seconds)} --connect-timeout 2000 >/dev/null; sleep 0.5; done`,
    ],
    host: left.host,
  });
}

function roadOf({ left, right }: Scene): Road {
  return { from: left.host, to: right.host, address: OVERLAY.right };
}

/** One transfer after the other beside the load, whose bytes are compared; disturbances find most of them on their way. */
async function repeatTransfers(scene: Scene, watch: SoakWatch, over: AbortSignal): Promise<void> {
  const road = roadOf(scene);
  while (!over.aborted) {
    try {
      watch.noteTransfer(await transferBytes(road, TRANSFER_BYTES));
    } catch {
      // The far end is being started again: its address is gone for a moment.
      await pause(TRANSFER_PAUSE_MS);
    }
  }
}

const UNDERLAY = { left: "192.0.2.1", right: "192.0.2.2", flapped: "192.0.2.77" };
const OVERLAY = { left: "10.9.0.1", right: "10.9.0.2" };
const PORT = 51_820;
const REKEY_SECONDS = 5;
const FLOWS_PER_SECOND = 1_000;
const TRANSFER_BYTES = 20_000_000;
const TRANSFER_PAUSE_MS = 500;
const DISTURB_EVERY_MS = 10_000;
const RECOVERY_MS = 60_000;
const LOOK_MS = 1_000;
