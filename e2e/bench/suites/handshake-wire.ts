import { availableParallelism } from "node:os";

import { createLab, type Host, type Lab } from "../../harness/namespaces.ts";
import type { PlainPeer } from "../../harness/plain-wireguard.ts";
import { cpuSeconds, residentBytes } from "../../harness/process-usage.ts";
import { makeWireguardKeys, type WireguardKeys } from "../../harness/wireguard-keys.ts";
import { forgedInitiations } from "../load/forged.ts";
import { provideFlood, startFlood } from "../load/flood.ts";
import { startHandshakeLoad, type HandshakeLoad } from "../load/handshakes.ts";
import type { CaseReport, Skipped } from "../report.ts";
import { createRowCollector } from "../row-collector.ts";
import { RESPONDER_PORT, responderOptions, RESPONDERS, type Responder } from "./handshake-responders.ts";
import type { SuiteContext } from "./suite-run.ts";
import type { Sample } from "./suite.ts";

type WireCase = {
  readonly name: string;
  readonly unit: string;
  readonly run: (scene: Scene, responder: Responder) => Promise<Sample>;
};

/** Two hosts, the callers' program with prepared initiations on one, keys for a responder on the other. */
type Scene = {
  readonly lab: Lab;
  readonly caller: Host;
  readonly answerer: Host;
  readonly keys: WireguardKeys;
  readonly peers: readonly WireguardKeys[];
  readonly load: HandshakeLoad;
  readonly seconds: number;
};

/**
 * Handshakes over the wire: each responder in turn, freshly started, with the same peers, the same prepared initiations
 * and one core of its own; the calling program has the other core.
 */
export async function measureHandshakesOnWire(
  context: SuiteContext,
): Promise<{ readonly cases: CaseReport[]; readonly skipped: Skipped[]; readonly problems: string[] }> {
  const { options, wants, progress } = context;
  const skipped: Skipped[] = [];
  const problems: string[] = [];
  const collector = createRowCollector(progress);
  const responders = await present(context, skipped);
  const visits = WIRE_CASES.flatMap((wireCase) =>
    responders.filter(({ name }) => wants(wireCase.name, name)).map((responder) => ({ wireCase, responder })),
  );
  if (visits.length === 0) return { cases: [], skipped, problems };
  const scene = await setScene(options.seconds);
  try {
    const turns = Array.from({ length: options.rounds }, (_, index) => index + 1);
    for (const { round, wireCase, responder } of turns.flatMap((turn) =>
      visits.map((one) => ({ ...one, round: turn })),
    )) {
      const { name, unit } = wireCase;
      const sample = await attempt(() => wireCase.run(scene, responder));
      if ("value" in sample) collector.add({ name, unit, contender: responder.name }, { ...sample, round });
      if (sample.problem !== undefined) problems.push(`${name}, ${responder.name}: ${sample.problem}`);
    }
  } finally {
    await scene.load.stop();
    await scene.lab.dispose();
  }
  return { cases: collector.rows(), skipped, problems };
}

/** A run that fails is a problem; the others go on. */
async function attempt(run: () => Promise<Sample>): Promise<Sample | { readonly problem: string }> {
  try {
    return await run();
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Handshakes that one core can answer: the responder's own processor time counts, in user and system mode. */
async function rateOf(scene: Scene, responder: Responder): Promise<Sample> {
  return withResponder(scene, responder, async ({ program }) => {
    const before = cpuSeconds(program.pid);
    const { answered, lost, seconds } = await scene.load.rate(scene.seconds, WINDOW);
    const spent = cpuSeconds(program.pid) - before;
    const enough = answered >= ANSWERED_MIN && spent > 0;
    return {
      value: answered / spent,
      extra: { perSecond: answered / seconds, busy: spent / seconds, lost },
      ...(enough ? {} : { problem: `only ${String(answered)} handshakes were answered` }),
    };
  });
}

/** From the start of the responder's process to its first answer. */
async function firstReply(scene: Scene, responder: Responder): Promise<Sample> {
  const first = scene.load.first();
  const startedMs = performance.now();
  return withResponder(scene, responder, async () => {
    const upMs = performance.now() - startedMs;
    const ms = await first;
    if (ms === null) throw new Error("no initiation was answered");
    return { value: ms, extra: { configuredAfterMs: upMs } };
  });
}

/** Legitimate peers that get through while somebody floods with initiations whose MAC1 is right. */
async function underFlood(scene: Scene, responder: Responder): Promise<Sample> {
  const { caller, keys, seconds, load } = scene;
  return withResponder(scene, responder, async ({ program }) => {
    const flood = await startFlood({
      from: caller,
      to: ANSWERER,
      port: RESPONDER_PORT,
      datagrams: await forgedInitiations(keys.publicKey, FORGED_DISTINCT),
      perSecond: FORGED_PER_SECOND,
      seconds: seconds + PATIENCE_SECONDS,
      sources: { first: FLOOD_FIRST, count: FLOOD_SOURCES },
    });
    const rssBefore = residentBytes(program.pid) / 1e6;
    const { tried, done, first } = await load.legitimate(seconds, LEGITIMATE);
    const rssAfter = residentBytes(program.pid) / 1e6;
    // It tells what it sent when its time is over, and nothing when it is stopped before.
    const { sent, seconds: took } = await flood.done;
    const perSecond = sent / took;
    return {
      value: done / tried,
      extra: { firstTry: first / tried, forgedPerSecond: perSecond, rssBefore, rssAfter },
      ...(perSecond >= FORGED_PER_SECOND * 0.9 ? {} : { problem: `only ${perSecond.toFixed(0)} forged per second` }),
    };
  });
}

async function withResponder<T>(
  { answerer, keys, peers }: Scene,
  responder: Responder,
  use: (peer: PlainPeer) => Promise<T>,
): Promise<T> {
  const options = responderOptions({ host: answerer, keys, peers });
  const peer = await responder.start({ ...options, core: RESPONDER_CORE });
  try {
    return await use(peer);
  } finally {
    await peer.program.stop();
  }
}

async function setScene(seconds: number): Promise<Scene> {
  const lab = await createLab();
  const [caller, answerer] = [await lab.host("caller"), await lab.host("answerer")];
  await lab.cable(
    { host: caller, interfaceName: "eth0", addresses: ["192.0.2.1/24"] },
    { host: answerer, interfaceName: "eth0", addresses: [`${ANSWERER}/24`] },
    "veth",
  );
  await caller.must("ip", ["route", "add", "local", FLOOD_NETWORK, "dev", "lo"]);
  await answerer.must("ip", ["route", "add", FLOOD_NETWORK, "via", "192.0.2.1"]);
  const keys = makeWireguardKeys();
  const peers = Array.from({ length: PEERS }, makeWireguardKeys);
  const load = await startHandshakeLoad({
    host: caller,
    responder: keys.publicKey,
    address: ANSWERER,
    port: RESPONDER_PORT,
    peers,
    firstSource: LEGITIMATE_FIRST,
    perPeer: Math.ceil((seconds * PREPARED_PER_SECOND) / PEERS),
    core: CALLER_CORE,
  });
  return { lab, caller, answerer, keys, peers, load, seconds };
}

async function present({ wants }: SuiteContext, skipped: Skipped[]): Promise<Responder[]> {
  const found: Responder[] = [];
  for (const responder of RESPONDERS) {
    if (!WIRE_CASES.some(({ name }) => wants(name, responder.name))) continue;
    const reason = (await responder.whyNot()) ?? (await whyNoFlood());
    if (reason === undefined) found.push(responder);
    else skipped.push({ contender: responder.name, case: "handshakes over the wire", reason });
  }
  return found;
}

async function whyNoFlood(): Promise<string | undefined> {
  const provided = await provideFlood();
  return "reason" in provided ? provided.reason : undefined;
}

const WIRE_CASES: readonly WireCase[] = [
  { name: "responder-on-wire", unit: "handshakes/s and core", run: rateOf },
  { name: "first-reply", unit: "ms", run: firstReply },
  { name: "flood", unit: "of 1 legitimate", run: underFlood },
];
/** Names of the cases that go over the wire. */
export const WIRE_CASE_NAMES = WIRE_CASES.map(({ name }) => name);

const ANSWERER = "192.0.2.2";
/** From the range for benchmarks between networks. */
const FLOOD_NETWORK = "198.18.0.0/15";
const FLOOD_FIRST = "198.18.0.1";
const LEGITIMATE_FIRST = "198.19.0.1";
const FLOOD_SOURCES = 4_096;
const FORGED_DISTINCT = 4_096;
const FORGED_PER_SECOND = 50_000;
const PEERS = 1_000;
const LEGITIMATE = 200;
/** Few enough on the road that no responder thinks it is under load. */
const WINDOW = 32;
const PREPARED_PER_SECOND = 5_000;
const ANSWERED_MIN = 200;
/** How long the last of the legitimate peers may go on trying. */
const PATIENCE_SECONDS = 20;
const RESPONDER_CORE = 0;
const CALLER_CORE = availableParallelism() > 1 ? 1 : 0;
