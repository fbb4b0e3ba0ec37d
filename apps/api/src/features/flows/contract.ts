import { parseIp, parsePrefix } from "@weft/protocol";
import { z } from "zod";
import {
  CounterSchema,
  FlowRecordIdSchema,
  listOutput,
  NetworkIdSchema,
  PeerIdSchema,
  RuleIdSchema,
  TimeSchema,
} from "../../registry/common-schemas.ts";
import { query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";

const VerdictSchema = z.enum(["allow", "deny"]);
const PortSchema = z.int().min(0).max(65_535);

const FlowRecordSchema = z
  .strictObject({
    id: FlowRecordIdSchema,
    networkId: NetworkIdSchema,
    peerId: PeerIdSchema.describe("The node that reported it; the node at the other end reports it, too."),
    otherPeerId: PeerIdSchema.nullable().describe("The node at the other end; null when it was gone."),
    protocol: z.int().describe("IP protocol number."),
    source: z.string().describe("Address of the end that began."),
    destination: z.string(),
    sourcePort: PortSchema.nullable(),
    destinationPort: PortSchema.nullable(),
    icmpType: z.int().nullable().describe("Type of the ICMP message that began it."),
    direction: z.enum(["in", "out"]).describe("`out`: the node that reported it began."),
    verdict: VerdictSchema,
    ruleId: RuleIdSchema.nullable().describe("The rule behind the verdict; null: no rule matched, or it is gone."),
    rxPackets: CounterSchema.describe("Packets that came in at the node that reported it."),
    rxBytes: CounterSchema,
    txPackets: CounterSchema,
    txBytes: CounterSchema,
    drops: CounterSchema.describe("Packets that the rules dropped."),
    startedAt: TimeSchema.describe("First packet."),
    lastAt: TimeSchema.describe("Last packet."),
    state: z.enum(["open", "ended"]).describe("Counts of an open flow grow with later reports."),
  })
  .meta({ id: "FlowRecord" });

export const flowLogsSpec = listSpec({
  name: "flowRecords",
  orders: ["-startedAt", "startedAt"],
  filters: {
    peerId: PeerIdSchema.describe("The node that reported it."),
    otherPeerId: PeerIdSchema.describe("The node at the other end."),
    ruleId: RuleIdSchema.describe("The rule behind the verdict."),
    verdict: VerdictSchema,
    protocol: z.int().min(0).max(255).describe("IP protocol number."),
    port: PortSchema.describe("Destination port."),
    address: z
      .string()
      .max(43)
      .refine((text) => parseIp(text).ok || parsePrefix(text).ok, "expected an address or a range in CIDR form")
      .describe("Address or range in CIDR form that an end lies in."),
    since: TimeSchema.describe("Begun from this moment on."),
    until: TimeSchema.describe("Begun before this moment."),
  },
});

export const flowLogsContract = {
  list: query({
    summary: "Lists flows that nodes reported, newest first; off until `flowSampling` of the network is set",
    rest: { method: "GET", path: "/networks/{networkId}/flow-logs", status: 200 },
    access: { kind: "role", role: "viewer", scope: "flows:read" },
    list: flowLogsSpec,
    input: z.strictObject({ networkId: NetworkIdSchema, ...listFields(flowLogsSpec) }),
    output: listOutput(FlowRecordSchema),
  }),
  top: query({
    summary: "Shows the flows of a node that go on, those with the most bytes first",
    rest: { method: "GET", path: "/peers/{peerId}/top-flows", status: 200 },
    access: { kind: "role", role: "viewer", scope: "flows:read" },
    input: z.strictObject({ peerId: PeerIdSchema, limit: z.int().min(1).max(100).default(10) }),
    output: z.strictObject({ items: z.array(FlowRecordSchema) }),
  }),
};
