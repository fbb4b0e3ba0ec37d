import type { CountersReport, PeerId, StageCounters } from "@weft/protocol";
import { createRateHistory } from "./rate-history.ts";
import type { RatePoint } from "./rate-history.ts";

/** Traffic of one node over all its agent starts: totals that never go back, rates, ten minutes of history. */
export type NodeTraffic = {
  /** Links to peers that `isMember` does not know are skipped. */
  readonly ingest: (report: CountersReport, nowMs: number, isMember?: (id: PeerId) => boolean) => void;
  /** The peer at the other end is gone for good; what it moved stays in the totals. */
  readonly forgetLink: (id: PeerId) => void;
  readonly totals: () => TrafficTotals;
  /** Rates of the last report; zero once it is older than a few reports should be. */
  readonly rates: (nowMs: number) => Rates;
  readonly history: (nowMs: number) => readonly RatePoint[];
  readonly links: () => ReadonlyMap<PeerId, LinkTraffic>;
  readonly latest: () => LatestReport | undefined;
};

type Rates = { readonly rxBitsPerSecond: number; readonly txBitsPerSecond: number };
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
};

/** A link and where its rates are measured from. */
type MeasuredLink = LinkTraffic & {
  /** Bytes since the measured span began. */
  readonly moved: Moved;
  readonly sinceUptimeMs: number;
};

type Moved = { readonly rx: bigint; readonly tx: bigint };

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
  let sum: Moved = NOTHING;
  let links = new Map<PeerId, MeasuredLink>();
  let measuredFrom: CountersReport | undefined;
  let moved = NOTHING;
  let latest: LatestReport | undefined;
  let rates: RatePoint = { atMs: 0, rxBitsPerSecond: 0, txBitsPerSecond: 0 };
  const history = createRateHistory();
  const epochTotals = () => ({ rx: larger(sum.rx, floor.rx), tx: larger(sum.tx, floor.tx) });

  const beginEpoch = (next: string) => {
    const ended = epochTotals();
    base = { rx: base.rx + ended.rx, tx: base.tx + ended.tx };
    floor = { rx: 0n, tx: 0n };
    sum = NOTHING;
    moved = NOTHING;
    links = new Map();
    measuredFrom = undefined;
    epoch = next;
  };

  return {
    ingest(report, nowMs, isMember = () => true) {
      if (String(report.counterEpoch) !== epoch) beginEpoch(String(report.counterEpoch));
      const spanMs = measuredFrom ? report.uptimeMs - measuredFrom.uptimeMs : 0;
      for (const [row, peerId] of report.peers.peerIds.entries()) {
        if (!isMember(peerId)) continue;
        const before = links.get(peerId);
        const link = readLink(report, row, before);
        links.set(peerId, link.now);
        sum = plus(sum, link.grown);
        // What a peer moved before it was first named is not this span's.
        if (before) moved = plus(moved, link.grown);
      }
      // Two reports close together measure the moment between them, not the traffic: wait for more.
      if (spanMs > 0 && spanMs < SPAN_MS_MIN) return;
      if (spanMs > 0) {
        rates = { atMs: nowMs, ...bitRates(moved, spanMs) };
        history.push(rates);
      }
      latest = latestOf(report, measuredFrom, { spanMs, nowMs });
      measuredFrom = report;
      moved = NOTHING;
    },
    forgetLink: (id) => void links.delete(id),
    totals() {
      const own = epochTotals();
      return {
        rxBytes: storable(base.rx + own.rx),
        txBytes: storable(base.tx + own.tx),
        counterEpoch: epoch,
        epochRxBytes: storable(own.rx),
        epochTxBytes: storable(own.tx),
      };
    },
    rates: (nowMs) => (nowMs - rates.atMs > STALE_MS ? { rxBitsPerSecond: 0, txBitsPerSecond: 0 } : rates),
    history: history.points,
    links: () => links,
    latest: () => latest,
  };
}

function readLink(report: CountersReport, row: number, before: MeasuredLink | undefined) {
  const { peers } = report;
  const rxBytes = peers.rxBytes[row] ?? 0n;
  const txBytes = peers.txBytes[row] ?? 0n;
  const growth: Moved = { rx: grown(before?.rxBytes, rxBytes), tx: grown(before?.txBytes, txBytes) };
  const moved = plus(before?.moved ?? NOTHING, growth);
  const spanMs = before ? report.uptimeMs - before.sinceUptimeMs : 0;
  const isShort = before !== undefined && spanMs > 0 && spanMs < SPAN_MS_MIN;
  const { rxBitsPerSecond, txBitsPerSecond } = isShort ? before : bitRates(moved, spanMs);
  const now: MeasuredLink = {
    rxBytes,
    txBytes,
    rxBitsPerSecond,
    txBitsPerSecond,
    endpoint: peers.endpoints[row] ?? null,
    sessionAgeMs: peers.sessionAgeMs[row] ?? null,
    lastHandshakeAgeMs: peers.lastHandshakeAgeMs[row] ?? null,
    drops: Object.fromEntries(peers.drops.map(({ reason, counts }) => [reason, counts[row] ?? 0n])),
    moved: isShort ? moved : NOTHING,
    sinceUptimeMs: isShort ? before.sinceUptimeMs : report.uptimeMs,
  };
  return { now, grown: growth };
}

/** A counter that went back belongs to a peer that was removed and added again: it counts from zero. */
function grown(before: bigint | undefined, now: bigint): bigint {
  return before === undefined || now < before ? now : now - before;
}

function latestOf(
  report: CountersReport,
  previous: CountersReport | undefined,
  { spanMs, nowMs }: { readonly spanMs: number; readonly nowMs: number },
): LatestReport {
  const before = new Map(previous?.stages.map((stage) => [stageKey(stage), stage]));
  return {
    atMs: nowMs,
    stages: report.stages.map((stage) => stageRate(stage, before.get(stageKey(stage)), spanMs)),
    drops: Object.fromEntries(
      report.totals.filter(({ name }) => name.startsWith("drop")).map(({ name, value }) => [name, value]),
    ),
    cpuPercent: previous ? perSecond(report.cpuMicroseconds - previous.cpuMicroseconds, spanMs) / 10_000 : 0,
    rssBytes: report.rssBytes,
  };
}

function stageRate(now: StageCounters, before: StageCounters | undefined, spanMs: number): StageRate {
  const rate = (read: (stage: StageCounters) => bigint) =>
    before ? perSecond(grown(read(before), read(now)), spanMs) : 0;
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

function bitRates({ rx, tx }: Moved, spanMs: number): Rates {
  return { rxBitsPerSecond: perSecond(rx, spanMs) * 8, txBitsPerSecond: perSecond(tx, spanMs) * 8 };
}

function perSecond(amount: bigint, spanMs: number): number {
  return spanMs > 0 ? (Number(amount) * 1_000) / spanMs : 0;
}

function plus(left: Moved, right: Moved): Moved {
  return { rx: left.rx + right.rx, tx: left.tx + right.tx };
}

/** One node's lies must not keep the totals of others from being stored in the same statement. */
function storable(bytes: bigint): bigint {
  return bytes < STORED_MAX ? bytes : STORED_MAX;
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

/** The database's numbers have 63 bits: eight exabytes. */
const STORED_MAX = 2n ** 63n - 1n;
const NOTHING: Moved = { rx: 0n, tx: 0n };
/** When a dashboard opens or closes, the node changes its step and two reports may come at once. */
const SPAN_MS_MIN = 500;
/** Ten-second reports and some patience: what is older says nothing about now. */
export const STALE_MS = 12_000;
