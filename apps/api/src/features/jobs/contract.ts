import { z } from "zod";
import { PeerIdSchema } from "../../registry/common-schemas.ts";
import { mutation } from "../../registry/contract-kit.ts";

const access = { kind: "role", role: "admin", scope: "jobs:write", grant: "diagnostics" } as const;

export const jobsContract = {
  profile: mutation({
    summary: "Records where a node's agent spends its processor time, and answers with the stacks",
    rest: { method: "POST", path: "/peers/{peerId}/profile", status: 200 },
    access,
    input: z.strictObject({
      peerId: PeerIdSchema,
      seconds: z.int().min(1).max(120).default(10),
      frequencyHz: z.int().min(1).max(999).default(99).describe("Samples per second of each thread."),
      format: z.enum(["folded", "pprof"]).default("folded"),
    }),
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
    input: z.strictObject({
      peerId: PeerIdSchema,
      addresses: z.enum(["keep", "redact"]).default("keep").describe("Whether addresses and names of hosts stay in."),
    }),
    output: z
      .object({ contents: z.record(z.string(), z.string()).describe("What each part is.") })
      .catchall(z.unknown())
      .meta({ id: "DebugBundle" }),
  }),
};
