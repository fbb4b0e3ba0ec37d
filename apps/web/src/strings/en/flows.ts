/** Flows that nodes reported. */
export const flows = {
  title: "Flows",
  hint: "Each with the rule that decided. Counts are those since the flow began.",
  sampledHint: (sampling: number) => `One flow of ${sampling} is recorded. Counts are those since the flow began.`,
  off: "Flows are not recorded in this network.",
  toSettings: "Record them",
  loading: "Loading flows",
  top: "Flows going on now",
  noTop: "No flow goes on at this peer.",
  recent: "Flows last recorded",
  recentHint: "The newest beginnings, refused ones included.",
  noRecent: "No flow of this peer was recorded yet.",
  columns: { flow: "Flow", verdict: "Verdict", bytes: "Received, sent", drops: "Dropped", last: "Last packet" },
  verdicts: { allow: "allowed", deny: "denied" },
  to: "to",
  noRule: "no rule matched",
  someRule: "a rule without a name",
  directions: { in: (peer: string) => `from ${peer}`, out: (peer: string) => `to ${peer}` },
  protocol: (number: number, icmpType: number | null) => {
    const name = PROTOCOL_NAMES.get(number) ?? `protocol ${number}`;
    return icmpType === null ? name : `${name} type ${icmpType}`;
  },
};

const PROTOCOL_NAMES = new Map([
  [1, "ICMP"],
  [6, "TCP"],
  [17, "UDP"],
  [58, "ICMPv6"],
  [132, "SCTP"],
]);
