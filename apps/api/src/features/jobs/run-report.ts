import { err, ok } from "@weft/protocol";
import type { JobWork, Result } from "@weft/protocol";
import type { z } from "zod";
import { findPeer } from "../../db/peers-repository.ts";
import type { Failure } from "../../domain/failure.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";

type ReportWork = Exclude<JobWork, { kind: "ping" }>;

/** Lets a node do work that ends in a report; beginning and end are noted, whatever comes out. */
export async function runReport<T>(
  deps: FeatureDeps,
  call: Call,
  job: {
    readonly peerId: string;
    readonly action: string;
    readonly work: ReportWork;
    readonly timeLimitMs: number;
    /** What a report must look like: nodes may send anything. */
    readonly schema: z.ZodType<T>;
  },
): Promise<Result<T, Failure>> {
  const { db } = deps.database;
  const peer = await findPeer(db, job.peerId);
  if (!peer) return err({ code: "not_found", what: "peer" });
  const note = { objectId: peer.id, networkId: peer.networkId, before: null };
  const begun = { action: job.action, after: job.work, at: new Date(deps.clock.nowMs()) };
  await recordAudit(db, call, { ...note, ...begun });
  const outcome = await deps.live.report({ peerId: peer.id, work: job.work, timeLimitMs: job.timeLimitMs });
  const report = outcome.ok ? readReport(peer.name, outcome.value, job.schema) : outcome;
  const after = report.ok ? { bytes: outcome.ok ? outcome.value.length : 0 } : { failure: report.error.code };
  const ended = { action: `${job.action}Ended`, after, at: new Date(deps.clock.nowMs()) };
  await recordAudit(db, call, { ...note, ...ended });
  return report;
}

function readReport<T>(name: string, text: string, schema: z.ZodType<T>): Result<T, Failure> {
  const fault = { code: "job_failed", name, detail: "its report is not what was asked for" } as const;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err(fault);
  }
  const parsed = schema.safeParse(value);
  return parsed.success ? ok(parsed.data) : err(fault);
}
