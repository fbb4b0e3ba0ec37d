import { z } from "zod";
import { JobIdSchema, listOutput, NetworkIdSchema, PeerIdSchema } from "../../registry/common-schemas.ts";
import { mutation, query } from "../../registry/contract-kit.ts";
import { JobKindSchema, JobSchema, JobStateSchema } from "../../registry/job-schemas.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";

const access = { kind: "role", role: "admin", scope: "jobs:write", grant: "diagnostics" } as const;
const operating = { kind: "role", role: "operator", scope: "jobs:write" } as const;
const reading = { kind: "role", role: "viewer", scope: "jobs:read" } as const;

const ProfileFields = {
  peerId: PeerIdSchema,
  seconds: z.int().min(1).max(120).default(10),
  frequencyHz: z.int().min(1).max(999).default(99).describe("Samples per second of each thread."),
  format: z.enum(["folded", "pprof"]).default("folded"),
};
const BundleFields = {
  peerId: PeerIdSchema,
  addresses: z.enum(["keep", "redact"]).default("keep").describe("Whether addresses and names of hosts stay in."),
};
const TargetSchema = PeerIdSchema.describe("The peer at the other end.");
const byId = z.strictObject({ jobId: JobIdSchema });

export const jobsSpec = listSpec({
  name: "jobs",
  orders: ["-createdAt", "createdAt"],
  filters: { kind: JobKindSchema, state: JobStateSchema, peerId: PeerIdSchema, targetPeerId: PeerIdSchema },
});

export const jobsContract = {
  list: query({
    summary: "Lists what the nodes of a network were asked to do, newest first; kept for 30 days, at most 1,000",
    rest: { method: "GET", path: "/networks/{networkId}/jobs", status: 200 },
    access: reading,
    list: jobsSpec,
    input: z.strictObject({ networkId: NetworkIdSchema, ...listFields(jobsSpec) }),
    output: listOutput(JobSchema),
  }),
  get: query({
    summary: "Shows one job, and what it found so far",
    rest: { method: "GET", path: "/jobs/{jobId}", status: 200 },
    access: reading,
    input: byId,
    output: JobSchema,
  }),
  report: query({
    summary: "Sends the profile or debug bundle of a job; kept for a day",
    rest: { method: "GET", path: "/jobs/{jobId}/report", status: 200 },
    access: { ...access, scope: "jobs:read" },
    input: byId,
    output: z.object({}).catchall(z.unknown()).meta({ id: "JobReport" }),
  }),
  cancel: mutation({
    summary: "Ends a job early; the node is told",
    rest: { method: "POST", path: "/jobs/{jobId}/cancel", status: 200 },
    access: operating,
    input: byId,
    output: JobSchema,
  }),
  ping: mutation({
    summary: "Begins to ping one peer from another, through the tunnel",
    rest: { method: "POST", path: "/peers/{peerId}/jobs/ping", status: 201, location: "/jobs/{id}" },
    access: operating,
    input: z.strictObject({
      peerId: PeerIdSchema,
      targetPeerId: TargetSchema,
      count: z.int().min(1).max(20).default(5),
    }),
    output: JobSchema,
  }),
  trace: mutation({
    summary: "Begins to look for the routers between a peer and another, or an address behind one",
    rest: { method: "POST", path: "/peers/{peerId}/jobs/trace", status: 201, location: "/jobs/{id}" },
    access: operating,
    input: z
      .strictObject({
        peerId: PeerIdSchema,
        targetPeerId: TargetSchema.optional(),
        address: z.union([z.ipv4(), z.ipv6()]).optional().describe("An address in a range that a peer routes."),
        hopsMax: z.int().min(1).max(30).default(16),
      })
      .refine(({ targetPeerId, address }) => (targetPeerId === undefined) !== (address === undefined), {
        message: "say either targetPeerId or address",
        path: ["targetPeerId"],
      }),
    output: JobSchema,
  }),
  mtuProbe: mutation({
    summary: "Begins to ask anew how large packets between two peers may be",
    rest: { method: "POST", path: "/peers/{peerId}/jobs/mtu-probe", status: 201, location: "/jobs/{id}" },
    access: operating,
    input: z.strictObject({ peerId: PeerIdSchema, targetPeerId: TargetSchema }),
    output: JobSchema,
  }),
  throughput: mutation({
    summary: "Begins to measure TCP through the tunnel, there and back; policy must allow tcp on the port",
    rest: { method: "POST", path: "/peers/{peerId}/jobs/throughput", status: 201, location: "/jobs/{id}" },
    access,
    input: z.strictObject({
      peerId: PeerIdSchema,
      targetPeerId: TargetSchema,
      seconds: z.int().min(1).max(30).default(5).describe("Of each direction."),
      rateMbit: z.int().min(1).max(100_000).optional().describe("Bound of each direction; as fast as it goes without."),
      port: z.int().min(1_024).max(65_535).default(7_411).describe("TCP port at the target; only for this test."),
    }),
    output: JobSchema,
  }),
  restart: mutation({
    summary: "Begins to start a node's data plane, or its whole agent, again",
    rest: { method: "POST", path: "/peers/{peerId}/jobs/restart", status: 201, location: "/jobs/{id}" },
    access: { kind: "role", role: "admin", scope: "jobs:write" },
    input: z.strictObject({ peerId: PeerIdSchema, what: z.enum(["engine", "agent"]).default("engine") }),
    output: JobSchema,
  }),
  recordProfile: mutation({
    summary: "Begins to record where a node's agent spends its processor time",
    rest: { method: "POST", path: "/peers/{peerId}/jobs/profile", status: 201, location: "/jobs/{id}" },
    access,
    input: z.strictObject(ProfileFields),
    output: JobSchema,
  }),
  collectBundle: mutation({
    summary: "Begins to collect a debug bundle of a node's agent",
    rest: { method: "POST", path: "/peers/{peerId}/jobs/debug-bundle", status: 201, location: "/jobs/{id}" },
    access,
    input: z.strictObject(BundleFields),
    output: JobSchema,
  }),
  profile: mutation({
    summary: "Records where a node's agent spends its processor time, and answers with the stacks",
    rest: { method: "POST", path: "/peers/{peerId}/profile", status: 200 },
    access,
    input: z.strictObject(ProfileFields),
    output: z
      .object({
        format: z.enum(["folded", "pprof"]),
        samples: z.int(),
        threads: z.array(z.string()),
        data: z.string().describe("Folded stacks as text, or pprof as base64 of gzip."),
      })
      .catchall(z.unknown())
      .meta({ id: "CpuProfile" }),
  }),
  debugBundle: mutation({
    summary: "Asks a node's agent for what helps to find a fault: state, counters, log; never keys or tokens",
    rest: { method: "POST", path: "/peers/{peerId}/debug-bundle", status: 200 },
    access,
    input: z.strictObject(BundleFields),
    output: z
      .object({ contents: z.record(z.string(), z.string()).describe("What each part is.") })
      .catchall(z.unknown())
      .meta({ id: "DebugBundle" }),
  }),
};
