import { err, ok } from "@weft/protocol";

import type { FlowsView, FlowView, RuleView } from "../../daemon/flows-view.ts";
import { isRecord } from "../../state/state-store.ts";
import { askMember } from "../ask-member.ts";
import type { CommandContext, CommandOutcome } from "../context.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { bytesText, durationText, table } from "../output.ts";

/** Shows the flows with the most bytes, and what met each rule of the filter. */
export async function flows(context: CommandContext, flowsMax: number): Promise<CommandOutcome> {
  const { output, paths } = context;
  const asked = await askMember(paths, { method: "flows", flowsMax });
  if (!asked.ok) return asked;
  if (!isFlowsView(asked.value))
    return err({ code: "failed", message: "the daemon is of another version; restart it" });
  output.result(asked.value, flowLines(asked.value));
  return ok(EXIT_CODES.ok);
}

/** The text form. */
export function flowLines(view: FlowsView): string[] {
  const more = view.total - view.flows.length;
  return [
    ...(view.flows.length === 0
      ? ["no flows"]
      : table([
          ["peer", "protocol", "local", "", "remote", "rule", "in", "out", "dropped", "idle"],
          ...view.flows.map(flowRow),
        ])),
    ...(more > 0 ? [`and ${more} more`] : []),
    "",
    ...(view.rules.length === 0
      ? ["no rules: nothing passes"]
      : table([["rule", "packets", "bytes", "dropped"], ...view.rules.map(ruleRow)])),
  ];
}

function flowRow(flow: FlowView): string[] {
  return [
    flow.peer ?? "-",
    protocolText(flow),
    endText(flow.local, flow.localPort),
    flow.began === "here" ? "→" : "←",
    endText(flow.remote, flow.remotePort),
    flow.rule === null
      ? flow.verdict === "allow"
        ? "-"
        : "none, denied"
      : `${flow.rule}${flow.verdict === "deny" ? ", denied" : ""}`,
    bytesText(flow.rxBytes),
    bytesText(flow.txBytes),
    String(flow.drops),
    durationText(flow.idleMs),
  ];
}

function ruleRow({ rule, packets, bytes, drops }: RuleView): string[] {
  return [String(rule), String(packets), bytesText(bytes), String(drops)];
}

function protocolText({ protocol, icmpType }: FlowView): string {
  const name = PROTOCOL_NAMES.get(protocol) ?? String(protocol);
  return icmpType === null ? name : `${name} type ${icmpType}`;
}

function endText(address: string, port: number | null): string {
  if (port === null) return address;
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

function isFlowsView(value: unknown): value is FlowsView {
  return isRecord(value) && Array.isArray(value["flows"]) && Array.isArray(value["rules"]);
}

const PROTOCOL_NAMES = new Map([
  [1, "icmp"],
  [6, "tcp"],
  [17, "udp"],
  [58, "icmpv6"],
  [132, "sctp"],
]);
