import type { CountersReport, PeerId, StageCounters } from "@weft/protocol";

/** Traffic of one node over all its agent starts: totals that never go back, rates, ten minutes of history. */
export type NodeTraffic = {
  readonly ingest: (report: CountersReport, nowMs: number) => void;
  readonly totals: () => TrafficTotals;
  /** Rates of the last report; zero once it is older than a few reports should be. */
  readonly rates: (nowMs: number) => Rates;
  readonly history: (nowMs: number) => readonly RatePoint[];
  readonly links: () => ReadonlyMap<PeerId, LinkTraffic>;
  readonly latest: () => LatestReport | undefined;
};

type Rates = { readonly rxBitsPerSecond: number; readonly txBitsPerSecond: number };
type RatePoint = Rates & { readonly atMs: number };
export type TrafficTotals = {
  readonly rxBytes: bigint;
  readonly txBytes: bigint;
  readonly counterEpoch: string | null;
  readonly epochRxBytes: bigint;
  readonly epochTxBytes: bigint;
};

/** One peer of the node, as last reported. */
type LinkTraffic = Rates & {
  readonly rxBytes: bigint;
  readonly txBytes: bigint;
  readonly endpoint: string | null;
  readonly sessionAgeMs: number | null;
  readonly lastHandshakeAgeMs: number | null;
  readonly drops: Readonly<Record<string, bigint>>;
  readonly atUptimeMs: number;
};

/** Node-wide part of the last report, differences already per second. */
type LatestReport = {
  readonly atMs: number;
  readonly stages: readonly StageRate[];
  readonly drops: Readonly<Record<string, bigint>>;
  readonly cpuPercent: number;
  readonly rssBytes: number;
};

type StageRate = {
  readonly shard: number;
  readonly stage: string;
  readonly batches: number;
  readonly packets: number;
  readonly bytes: number;
  readonly nanoseconds: number;
};

/** Starts from what the database kept. */
export function createNodeTraffic(stored: TrafficTotals): NodeTraffic {
  let epoch = stored.counterEpoch;
  // What earlier agent starts moved; the running one adds its own sum on top.
  let base = { rx: stored.rxBytes - stored.epochRxBytes, tx: stored.txBytes - stored.epochTxBytes };
  // After a restart of ours the running agent start reports its whole sum again: this much of it is in the totals.
  let floor = { rx: stored.epochRxBytes, tx: stored.epochTxBytes };
  let sum = { rx: 0n, tx: 0n };
  let links = new Map<PeerId, LinkTraffic>();
  let previous: CountersReport | undefined;
  let latest: LatestReport | undefined;
  let rates: RatePoint = { atMs: 0, rxBitsPerSecond: 0, txBitsPerSecond: 0 };
  const history: RatePoint[] = [];
  const epochTotals = () => ({ rx: larger(sum.rx, floor.rx), tx: larger(sum.tx, floor.tx) });

  const beginEpoch = (next: string) => {
    const ended = epochTotals();
    base = { rx: base.rx + ended.rx, tx: base.tx + ended.tx };
    floor = { rx: 0n, tx: 0n };
    sum = { rx: 0n, tx: 0n };
    links = new Map();
    previous = undefined;
    epoch = next;
  };

  return {
    ingest(report, nowMs) {
      if (String(report.counterEpoch) !== epoch) beginEpoch(String(report.counterEpoch));
      const isFirst = previous === undefined;
      const elapsedMs = previous ? report.uptimeMs - previous.uptimeMs : 0;
      let moved = { rx: 0n, tx: 0n };
      for (const [row, peerId] of report.peers.peerIds.entries()) {
        const link = readLink(report, row, links.get(peerId));
        links.set(peerId, link.now);
        moved = { rx: moved.rx + link.rx, tx: moved.tx + link.tx };
      }
      sum = { rx: sum.rx + moved.rx, tx: sum.tx + moved.tx };
      if (!isFirst && elapsedMs > 0) {
        rates = {
          atMs: nowMs,
          rxBitsPerSecond: perSecond(moved.rx, elapsedMs) * 8,
          txBitsPerSecond: perSecond(moved.tx, elapsedMs) * 8,
        };
        history.push(rates);
        while (history.length > HISTORY_POINTS_MAX) history.shift();
      }
      latest = latestOf(report, previous, { elapsedMs, nowMs });
      previous = report;
    },
    totals() {
      const own = epochTotals();
      return {
        rxBytes: base.rx + own.rx,
        txBytes: base.tx + own.tx,
        counterEpoch: epoch,
        epochRxBytes: own.rx,
        epochTxBytes: own.tx,
      };
    },
    rates: (nowMs) => (nowMs - rates.atMs > STALE_MS ? { rxBitsPerSecond: 0, txBitsPerSecond: 0 } : rates),
    history: (nowMs) => history.filter(({ atMs }) => nowMs - atMs <= HISTORY_MS),
    links: () => links,
    latest: () => latest,
  };
}

function readLink(report: CountersReport, row: number, before: LinkTraffic | undefined) {
  const { peers } = report;
  const rxBytes = peers.rxBytes[row] ?? 0n;
  const txBytes = peers.txBytes[row] ?? 0n;
  const rx = grown(before?.rxBytes, rxBytes);
  const tx = grown(before?.txBytes, txBytes);
  const elapsedMs = before ? report.uptimeMs - before.atUptimeMs : 0;
  const now: LinkTraffic = {
    rxBytes,
    txBytes,
    rxBitsPerSecond: perSecond(rx, elapsedMs) * 8,
    txBitsPerSecond: perSecond(tx, elapsedMs) * 8,
    endpoint: peers.endpoints[row] ?? null,
    sessionAgeMs: peers.sessionAgeMs[row] ?? null,
    lastHandshakeAgeMs: peers.lastHandshakeAgeMs[row] ?? null,
    drops: Object.fromEntries(peers.drops.map(({ reason, counts }) => [reason, counts[row] ?? 0n])),
    atUptimeMs: report.uptimeMs,
  };
  return { now, rx, tx };
}

/** A counter that went back belongs to a peer that was removed and added again: it counts from zero. */
function grown(before: bigint | undefined, now: bigint): bigint {
  return before === undefined || now < before ? now : now - before;
}

function latestOf(
  report: CountersReport,
  previous: CountersReport | undefined,
  { elapsedMs, nowMs }: { readonly elapsedMs: number; readonly nowMs: number },
): LatestReport {
  const before = new Map(previous?.stages.map((stage) => [stageKey(stage), stage]));
  return {
    atMs: nowMs,
    stages: report.stages.map((stage) => stageRate(stage, before.get(stageKey(stage)), elapsedMs)),
    drops: Object.fromEntries(
      report.totals.filter(({ name }) => name.startsWith("drop")).map(({ name, value }) => [name, value]),
    ),
    cpuPercent: previous ? perSecond(report.cpuMicroseconds - previous.cpuMicroseconds, elapsedMs) / 10_000 : 0,
    rssBytes: report.rssBytes,
  };
}

function stageRate(now: StageCounters, before: StageCounters | undefined, elapsedMs: number): StageRate {
  const rate = (read: (stage: StageCounters) => bigint) =>
    before ? perSecond(grown(read(before), read(now)), elapsedMs) : 0;
  return {
    shard: now.shard,
    stage: now.stage,
    batches: rate(({ batches }) => batches),
    packets: rate(({ packets }) => packets),
    bytes: rate(({ bytes }) => bytes),
    nanoseconds: rate(({ nanoseconds }) => nanoseconds),
  };
}

function stageKey({ shard, stage }: StageCounters): string {
  return `${shard}/${stage}`;
}

function perSecond(amount: bigint, elapsedMs: number): number {
  return elapsedMs > 0 ? (Number(amount) * 1_000) / elapsedMs : 0;
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

const HISTORY_MS = 10 * 60_000;
const HISTORY_POINTS_MAX = 600;
/** Ten-second reports and some patience. */
const STALE_MS = 12_000;
