import { err, ok } from "@weft/protocol";
import { changeJob, findJob, listJobs as readJobs } from "../../db/jobs-repository.ts";
import { findNetwork } from "../../db/networks-repository.ts";
import { storedNetworkId } from "../../db/rows.ts";
import { isConfidential } from "../../domain/job.ts";
import { recordAudit } from "../../registry/audit.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { jobsContract, jobsSpec } from "./contract.ts";
import { jobView } from "./job-view.ts";

/** Lists jobs of a network's nodes. */
export async function listJobs(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof jobsContract.list>,
): Outcome<typeof jobsContract.list> {
  const { db } = deps.database;
  const network = await findNetwork(db, input.networkId);
  if (!network) return err({ code: "not_found", what: "network" });
  const read = (request: Parameters<typeof readJobs>[2]) => readJobs(db, network.id, request);
  return answerList(deps, { spec: jobsSpec, scope: network.id, input, read, view: jobView });
}

/** Shows one job. */
export async function getJob(
  deps: FeatureDeps,
  _call: Call,
  { jobId }: InputOf<typeof jobsContract.get>,
): Outcome<typeof jobsContract.get> {
  const job = await findJob(deps.database.db, jobId);
  return job ? ok(jobView(job)) : err({ code: "not_found", what: "job" });
}

/** Sends what a profile or a debug bundle holds. */
export async function getReport(
  deps: FeatureDeps,
  _call: Call,
  { jobId }: InputOf<typeof jobsContract.report>,
): Outcome<typeof jobsContract.report> {
  const job = await findJob(deps.database.db, jobId);
  if (!job) return err({ code: "not_found", what: "job" });
  const { state, kind, result } = job;
  if (!isConfidential(kind) || state !== "done" || result === null) return err({ code: "not_found", what: "report" });
  return ok(jobsContract.report.output.parse(JSON.parse(result)));
}

/** Ends a job early. */
export async function cancelJob(
  deps: FeatureDeps,
  call: Call,
  { jobId }: InputOf<typeof jobsContract.cancel>,
): Outcome<typeof jobsContract.cancel> {
  const { db } = deps.database;
  const at = new Date(deps.clock.nowMs());
  const job = await findJob(db, jobId);
  if (!job) return err({ code: "not_found", what: "job" });
  const asked = await changeJob(db, jobId, { cancelAskedAt: at });
  if (!asked) return err({ code: "job_ended", state: job.state });
  const note = { objectId: job.peerId, networkId: storedNetworkId(job.networkId), before: null };
  await recordAudit(db, call, { ...note, action: "jobs.cancel", after: { jobId }, at });
  await deps.jobs.cancel(jobId);
  const now = await findJob(db, jobId);
  return now ? ok(jobView(now)) : err({ code: "not_found", what: "job" });
}
