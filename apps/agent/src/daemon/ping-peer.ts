import type { TunnelError } from "@weft/dataplane";
import type { IpAddress, Result } from "@weft/protocol";

import type { Timers } from "../stream/timers.ts";

/** One echo request; the answer's time in microseconds. */
export type PingOnce = (address: string, timeoutMs: number) => Promise<Result<number, TunnelError>>;

type PingReply = {
  readonly sequence: number;
  readonly rttMicroseconds: number | null;
  readonly problem: string | null;
};
export type PingSummary = {
  readonly sent: number;
  readonly received: number;
  readonly rttMicroseconds: readonly number[];
};

export type PingPlan = {
  readonly target: IpAddress;
  readonly count: number;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly onReply: (reply: PingReply) => void;
  /** Ends the series early. */
  readonly stopped: () => boolean;
};

/** Sends echo requests one after the other, as `ping` does. */
export async function pingPeer(
  deps: { readonly pingOnce: PingOnce; readonly timers: Timers },
  plan: PingPlan,
): Promise<PingSummary> {
  const rttMicroseconds: number[] = [];
  let sent = 0;
  while (sent < plan.count && !plan.stopped()) {
    const startedMs = deps.timers.nowMs();
    sent += 1;
    const answer = await deps.pingOnce(plan.target, plan.timeoutMs);
    if (answer.ok) rttMicroseconds.push(Math.round(answer.value));
    plan.onReply({
      sequence: sent,
      rttMicroseconds: answer.ok ? Math.round(answer.value) : null,
      problem: answer.ok ? null : answer.error.message,
    });
    const restMs = plan.intervalMs - (deps.timers.nowMs() - startedMs);
    if (sent < plan.count && restMs > 0) await new Promise<void>((resolve) => void deps.timers.after(restMs, resolve));
  }
  return { sent, received: rttMicroseconds.length, rttMicroseconds };
}
