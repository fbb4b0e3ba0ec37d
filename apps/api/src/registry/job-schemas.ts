import { WORK_KINDS } from "@weft/protocol";
import { z } from "zod";
import { JOB_STATES } from "../domain/job.ts";
import { JobIdSchema, NetworkIdSchema, PeerIdSchema, TimeSchema } from "./common-schemas.ts";

const MicrosecondsSchema = z.number().min(0).max(600_000_000);
const BytesSchema = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const AddressSchema = z.string().max(64);
const PercentSchema = z.number().min(0).max(100_000);

/** What a node reports of each kind of work, so far or in the end. Nodes may send anything: all of it is checked. */
export const PingFoundSchema = z.object({
  kind: z.literal("ping"),
  sent: z.int().min(0).max(1_000),
  received: z.int().min(0).max(1_000),
  rttMicroseconds: z.array(MicrosecondsSchema).max(1_000),
  endpoint: z.string().max(80).nullable(),
});

export const TraceFoundSchema = z.object({
  kind: z.literal("trace"),
  target: AddressSchema,
  outcome: z
    .enum(["tracing", "reached", "silent", "unreachable"])
    .describe("silent: nothing answered any more; unreachable: a router, or the host itself, said so."),
  reason: z.string().max(500).nullable(),
  hops: z
    .array(
      z.object({
        hop: z.int().min(1).max(255),
        address: AddressSchema.nullable().describe("Who answered; null when nobody did."),
        name: z.string().max(255).nullable().describe("Name of the peer that has the address."),
        rttMicroseconds: z.array(MicrosecondsSchema.nullable()).max(10).describe("One per probe; null: not answered."),
      }),
    )
    .max(30),
});

export const MtuFoundSchema = z.object({
  kind: z.literal("mtuProbe"),
  state: z
    .enum(["unknown", "assumed", "searching", "verified", "reported", "unanswered"])
    .describe("docs/design/path-mtu/design.md says what each means."),
  innerBytes: z.int().min(0).max(65_535).nullable().describe("Longest packet inside the tunnel."),
  datagramBytes: z.int().min(0).max(65_535).nullable().describe("Payload of the datagram that carries it."),
  outerBytes: z.int().min(0).max(65_575).nullable().describe("The packet on the path, with IP and UDP header."),
  steps: z
    .array(
      z.object({
        afterMs: z.number().min(0).max(600_000),
        step: z.enum(["asked", "answered", "lost", "settled"]),
        datagramBytes: z.int().min(0).max(65_535),
        innerBytes: z.int().min(-500).max(65_535),
      }),
    )
    .max(60),
});

const CpuSchema = z.object({
  agentPercent: PercentSchema.describe("Of one processor, while the test ran."),
  hostPercent: PercentSchema.describe("Of all processors."),
});

/** What one end of a throughput test reports. */
export const ThroughputEndSchema = z.object({
  kind: z.literal("throughput"),
  role: z.enum(["receive", "send"]),
  phase: z.enum(["listening", "there", "back", "ended"]),
  received: z.object({
    mbitPerSecond: z.array(z.number().min(0).max(10_000_000)).max(60),
    bytes: BytesSchema,
    ms: z.number().min(0).max(600_000),
  }),
  retransmits: z.int().min(0).nullable(),
  cpu: CpuSchema.nullable(),
});

const DirectionSchema = z.object({
  mbit: z.number().describe("Of the whole time."),
  mbitPerSecond: z.array(z.number()).describe("One for each second, as the receiver counted."),
  bytes: BytesSchema,
  retransmits: z.int().nullable().describe("Segments that the sending host sent again meanwhile; null: not known."),
});

export const ThroughputFoundSchema = z.object({
  kind: z.literal("throughput"),
  there: DirectionSchema.nullable().describe("From the node to the target."),
  back: DirectionSchema.nullable(),
  cpu: z.object({ node: CpuSchema.nullable(), target: CpuSchema.nullable() }),
  previous: z
    .object({
      jobId: JobIdSchema,
      createdAt: TimeSchema,
      thereMbit: z.number().nullable(),
      backMbit: z.number().nullable(),
    })
    .nullable()
    .describe("The test before this one between the same two, in the same direction."),
});

export const RestartFoundSchema = z.object({
  kind: z.literal("restart"),
  what: z.enum(["engine", "agent"]),
  downMs: z.number().min(0).max(600_000).describe("Until the tunnel was there again, as the node measured."),
});

const FoundSchema = z.discriminatedUnion("kind", [
  PingFoundSchema,
  TraceFoundSchema,
  MtuFoundSchema,
  ThroughputFoundSchema,
  RestartFoundSchema,
]);

export const JobKindSchema = z.enum(WORK_KINDS);
export const JobStateSchema = z.enum(JOB_STATES);

export const JobSchema = z
  .strictObject({
    id: JobIdSchema,
    networkId: NetworkIdSchema,
    peerId: PeerIdSchema.describe("The node that does it."),
    targetPeerId: PeerIdSchema.nullable(),
    kind: JobKindSchema,
    state: JobStateSchema.describe("done, failed, cancelled and expired are ends."),
    input: z.record(z.string(), z.unknown()).describe("What was asked."),
    askedBy: z.strictObject({ kind: z.string(), id: z.string().nullable(), login: z.string().nullable() }),
    createdAt: TimeSchema,
    startedAt: TimeSchema.nullable(),
    endedAt: TimeSchema.nullable(),
    timeLimitSeconds: z.number().describe("From the start on; then the job is expired."),
    failure: z.strictObject({ code: z.string(), detail: z.string() }).nullable(),
    result: FoundSchema.nullable().describe("What was found; so far, while the job runs."),
    report: z
      .enum(["none", "kept", "dropped"])
      .describe("Whether there is a profile or bundle to fetch; they are dropped after a day, and above 4 MiB."),
  })
  .meta({ id: "Job" });

export type JobView = z.output<typeof JobSchema>;
