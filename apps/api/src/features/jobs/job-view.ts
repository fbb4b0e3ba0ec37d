import type { StoredJob } from "../../db/jobs-repository.ts";
import { isConfidential } from "../../domain/job.ts";
import { JobSchema } from "../../registry/job-schemas.ts";
import type { JobView } from "../../registry/job-schemas.ts";

/** A job as callers see it; what only some may read is not in it. */
export function jobView(job: StoredJob): JobView {
  const { id, networkId, peerId, targetPeerId, kind, state, input, failureCode, failureDetail } = job;
  return {
    id,
    networkId,
    peerId,
    targetPeerId,
    kind,
    state,
    input,
    askedBy: { kind: job.askedByKind, id: job.askedById, login: job.askedByLogin },
    createdAt: job.createdAt.toISOString(),
    startedAt: job.startedAt?.toISOString() ?? null,
    endedAt: job.endedAt?.toISOString() ?? null,
    timeLimitSeconds: job.timeLimitMs / 1_000,
    failure: failureCode === null ? null : { code: failureCode, detail: failureDetail ?? "" },
    result: isConfidential(kind) ? null : foundOf(job),
    report: reportOf(job),
  };
}

function foundOf({ result }: StoredJob): JobView["result"] {
  if (result === null) return null;
  const found = JobSchema.shape.result.safeParse(JSON.parse(result));
  return found.success ? found.data : null;
}

function reportOf({ kind, state, result }: StoredJob): JobView["report"] {
  if (!isConfidential(kind) || state !== "done") return "none";
  return result === null ? "dropped" : "kept";
}
