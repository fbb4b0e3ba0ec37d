import { constants } from "node:os";

import type { EndpointFault, EndpointState } from "../interop/endpoint-settings.ts";
import type { TransferResult } from "../harness/traffic.ts";
import type { SoakOutcome } from "./soak-outcome.ts";

export type SoakLook = { readonly pid: number; readonly state: EndpointState; readonly rssMb: number };

/** Keeps what was seen of each daemon and judges it at the end. */
export type SoakWatch = {
  readonly look: (seen: SoakLook) => void;
  /** What a daemon reported while the soak had taken its network away; both states are of the same process. */
  readonly noteAbsence: (before: EndpointState, after: EndpointState) => void;
  readonly noteRecovery: (milliseconds: number) => void;
  readonly noteTransfer: (transfer: Pick<TransferResult, "receivedBytes" | "identical">) => void;
  readonly outcome: (disturbances: number, seconds: number) => SoakOutcome;
};

/** A daemon that was started again is another process and counts from zero. */
export function createSoakWatch(): SoakWatch {
  const looks = new Map<number, SoakLook[]>();
  const goneBack = new Set<string>();
  let recoveryMsMax = 0;
  let refusedInAbsence = 0;
  const transfers = { comparedBytes: 0, alteredTransfers: 0 };
  return {
    look(seen) {
      const before = looks.get(seen.pid) ?? [];
      const last = before.at(-1);
      if (last) for (const name of lowerThan(last.state, seen.state)) goneBack.add(name);
      looks.set(seen.pid, [...before, seen]);
    },
    noteAbsence(before, after) {
      refusedInAbsence += after.faults.slice(before.faults.length).filter(isAbsentNetwork).length;
    },
    noteRecovery(milliseconds) {
      recoveryMsMax = Math.max(recoveryMsMax, milliseconds);
    },
    noteTransfer({ receivedBytes, identical }) {
      if (identical) transfers.comparedBytes += receivedBytes;
      else transfers.alteredTransfers += 1;
    },
    outcome(disturbances, seconds) {
      const lasts = [...looks.values()].flatMap((series) => series.at(-1) ?? []);
      const sum = (pick: (state: EndpointState) => number): number =>
        lasts.reduce((total, { state }) => total + pick(state), 0);
      const result = {
        disturbances,
        handshakes: sum(({ handshakes }) => handshakes["responsesAccepted"] ?? 0),
        gigabytes: sum(({ peers }) => peers["rxBytes"] ?? 0) / 1e9,
        flows: sum(({ totals }) => totals["flowsStarted"] ?? 0),
        recoveryMsMax,
        lostEvents: sum(({ handshakes }) => handshakes["droppedQueueFull"] ?? 0),
        countersGoneBack: [...goneBack],
        rssGrowthMb: Math.max(...[...looks.values()].map(growthMb)),
        faults: sum(({ faults }) => faults.length) - refusedInAbsence,
        refusedInAbsence,
        ...transfers,
      };
      return { ...result, problems: problemsOf(result, seconds) };
    },
  };
}

function problemsOf(result: Omit<SoakOutcome, "problems">, seconds: number): string[] {
  const handshakesMin = Math.floor(seconds / REKEY_SLOWEST_SECONDS);
  return [
    ...(result.disturbances === 0 ? ["nothing was disturbed"] : []),
    ...(result.handshakes < handshakesMin ? [`${String(result.handshakes)} handshakes in ${String(seconds)} s`] : []),
    ...(result.flows < seconds * FLOWS_SLOWEST_PER_SECOND
      ? [`${String(result.flows)} flows in ${String(seconds)} s: they did not come and go`]
      : []),
    ...(result.lostEvents > 0 ? [`${String(result.lostEvents)} control events were lost`] : []),
    ...(result.faults > 0 ? [`${String(result.faults)} faults or failures of the engine`] : []),
    ...(result.comparedBytes === 0 ? ["no bytes were compared"] : []),
    ...(result.alteredTransfers > 0 ? [`${String(result.alteredTransfers)} transfers lost or changed bytes`] : []),
    ...result.countersGoneBack.map((name) => `the counter ${name} went back`),
    ...(result.rssGrowthMb > RSS_GROWTH_MB_MAX ? [`memory grew by ${result.rssGrowthMb.toFixed(1)} MB`] : []),
  ];
}

/** A send without a route: what the kernel says while a host has no link or no address, seen in every run and never else. */
function isAbsentNetwork({ operation, severity, errno }: EndpointFault): boolean {
  return operation === "udp-send" && severity === "passing" && errno === constants.errno.ENETUNREACH;
}

function lowerThan(before: EndpointState, after: EndpointState): string[] {
  return (["totals", "peers", "handshakes"] as const).flatMap((table) =>
    Object.entries(before[table])
      .filter(([name, value]) => (after[table][name] ?? 0) < value)
      .map(([name]) => `${table}.${name}`),
  );
}

/** From the end of the first third, when buffers have found their size, to the end. */
function growthMb(series: readonly SoakLook[]): number {
  const settled = series[Math.floor(series.length / 3)];
  const last = series.at(-1);
  return settled && last ? last.rssMb - settled.rssMb : 0;
}

/** Every 5 s is wanted; disturbances cost some. */
const REKEY_SLOWEST_SECONDS = 10;
/** 1,000 are wanted at either end; a busy machine begins fewer. */
const FLOWS_SLOWEST_PER_SECOND = 100;
const RSS_GROWTH_MB_MAX = 24;
