import { ok } from "@weft/protocol";

import type { PeerView, StatusView } from "../../daemon/status-view.ts";
import { isRecord } from "../../state/state-store.ts";
import { askMember } from "../ask-member.ts";
import type { CommandContext, CommandOutcome } from "../context.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { bytesText, durationText, table } from "../output.ts";

/** Shows how the node stands. */
export async function status(context: CommandContext): Promise<CommandOutcome> {
  const { output, paths } = context;
  const asked = await askMember(paths, { method: "status" });
  if (!asked.ok) return asked;
  if (!isStatusView(asked.value))
    return { ok: false, error: { code: "failed", message: "the daemon is of another version; restart it" } };
  output.result(asked.value, statusLines(asked.value));
  return ok(EXIT_CODES.ok);
}

/** The text form. */
export function statusLines(view: StatusView): string[] {
  return [
    ...table([
      ["network", view.network ?? "-"],
      ["name", view.name ?? "-"],
      ["addresses", [view.ipv4, view.ipv6].filter((address) => address !== null).join(", ") || "-"],
      ["interface", view.interface === null ? "none" : `${view.interface}, UDP port ${view.listenPort ?? "-"}`],
      ["server", serverText(view.server)],
      ...clockRows(view.server.clockSkewMs),
      ["daemon", `process ${view.pid}, up for ${durationText(view.uptimeMs)}, version ${view.version}`],
      ["names", namesText(view.names)],
      ...engineRows(view.engine),
      ...view.problems.map((problem) => ["problem", problem]),
    ]),
    "",
    ...(view.peers.length === 0 ? ["no peers yet"] : peerLines(view.peers)),
  ];
}

function namesText(names: StatusView["names"]): string {
  if (!names || names.domain === null) return "off";
  const host = names.host === null ? `this host does not ask for them` : `this host asks through ${names.host}`;
  return `${names.domain}, answered on ${names.listening.join(", ") || "no address"}; ${host}`;
}

function clockRows(skewMs: number | null): string[][] {
  if (skewMs === null) return [];
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
  return [
    ["clock", skewMs === 0 ? "as the server's" : `${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} the server's`],
  ];
}

function engineRows({ drops, syscallsPerMegabyte }: StatusView["engine"]): string[][] {
  const counts = Object.entries(drops).map(([reason, count]) => `${reason} ${count}`);
  return [
    ...(syscallsPerMegabyte === null ? [] : [["system calls", `${syscallsPerMegabyte} per MB`]]),
    ...(counts.length === 0 ? [] : [["dropped", counts.join(", ")]]),
  ];
}

function serverText(server: StatusView["server"]): string {
  if (server.reason === null) return `${server.url} (${server.state})`;
  const retry = server.retryInMs === null ? "" : `, next try in ${durationText(server.retryInMs)}`;
  return `${server.url} (${server.state}: ${server.reason}${retry})`;
}

function peerLines(peers: readonly PeerView[]): string[] {
  const heading = ["PEER", "ADDRESS", "ENDPOINT", "SESSION", "HANDSHAKE", "RECEIVED", "SENT"];
  const rows = peers.map((peer) => [
    peer.name,
    peer.ipv4 ?? peer.ipv6 ?? "-",
    peer.endpoint ?? "-",
    peer.session,
    peer.lastHandshakeAgeMs === null ? "never" : `${durationText(peer.lastHandshakeAgeMs)} ago`,
    bytesText(peer.rxBytes),
    bytesText(peer.txBytes),
  ]);
  return table([heading, ...rows]);
}

/** Daemon and command line come from the same package; this tells other versions apart. */
function isStatusView(value: unknown): value is StatusView {
  return (
    isRecord(value) &&
    typeof value["pid"] === "number" &&
    isRecord(value["server"]) &&
    isRecord(value["engine"]) &&
    Array.isArray(value["peers"]) &&
    Array.isArray(value["problems"])
  );
}
