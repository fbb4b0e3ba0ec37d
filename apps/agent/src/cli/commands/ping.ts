import { err, ok } from "@weft/protocol";

import { isRecord } from "../../state/state-store.ts";
import { askMember } from "../ask-member.ts";
import type { CommandContext, CommandOutcome } from "../context.ts";
import { EXIT_CODES } from "../exit-codes.ts";

export type PingOptions = {
  readonly peer: string;
  readonly count: number;
  readonly intervalMs: number;
  readonly timeoutMs: number;
};

/** Sends echo requests to a peer through the tunnel, as `ping` does. */
export async function ping(context: CommandContext, options: PingOptions): Promise<CommandOutcome> {
  const { output, paths } = context;
  const asked = await askMember(paths, { method: "ping", ...options }, (event) => {
    const line = eventLine(event);
    if (line !== null) output.line(line);
  });
  if (!asked.ok) return asked;
  if (!isRecord(asked.value)) return err({ code: "failed", message: "the daemon is of another version; restart it" });
  output.result(asked.value, summaryLines(asked.value));
  return ok(asked.value["received"] === 0 ? EXIT_CODES.noReply : EXIT_CODES.ok);
}

function eventLine(event: unknown): string | null {
  if (!isRecord(event)) return null;
  if (event["kind"] === "start") return `PING ${event["name"]} (${event["target"]})`;
  if (typeof event["rttMicroseconds"] === "number")
    return `reply seq=${event["sequence"]} time=${milliseconds(event["rttMicroseconds"])} ms`;
  return `no reply seq=${event["sequence"]}: ${event["problem"]}`;
}

function summaryLines(summary: { readonly [key: string]: unknown }): string[] {
  const { sent, received, rttMicroseconds, endpoint } = summary;
  const rtts = Array.isArray(rttMicroseconds)
    ? rttMicroseconds.filter((rtt): rtt is number => typeof rtt === "number")
    : [];
  const loss =
    typeof sent === "number" && sent > 0 && typeof received === "number"
      ? Math.round(((sent - received) / sent) * 100)
      : 0;
  const average = rtts.reduce((total, rtt) => total + rtt, 0) / rtts.length;
  return [
    "",
    `${sent} sent, ${received} received, ${loss}% lost`,
    ...(rtts.length > 0
      ? [
          `rtt min/avg/max = ${milliseconds(Math.min(...rtts))}/${milliseconds(average)}/${milliseconds(Math.max(...rtts))} ms`,
        ]
      : []),
    ...(typeof endpoint === "string" ? [`direct, through ${endpoint}`] : []),
  ];
}

function milliseconds(microseconds: number): string {
  return (microseconds / 1000).toFixed(3);
}
