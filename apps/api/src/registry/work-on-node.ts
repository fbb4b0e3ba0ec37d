import { err, ok } from "@weft/protocol";
import type { JobWork, PeerId, Result } from "@weft/protocol";
import type { z } from "zod";
import type { Failure } from "../domain/failure.ts";
import type { JobControl } from "./job-desk.ts";
import type { LiveState, WorkYield } from "./live-state.ts";

/** Lets one node do work and reads what it reports; `onFound` is called with what it found so far. */
export async function workOnNode<T>(
  live: Pick<LiveState, "work">,
  job: {
    readonly node: { readonly id: PeerId; readonly name: string };
    readonly work: JobWork;
    readonly timeLimitMs: number;
    /** What a report must look like: nodes may send anything. */
    readonly schema: z.ZodType<T>;
    readonly onFound: (found: T) => void;
  },
  { signal }: Pick<JobControl, "signal">,
): Promise<Result<{ readonly found: T; readonly bytes: number }, Failure>> {
  const { node, work, timeLimitMs, schema } = job;
  const outcome = await live.work({
    peerId: node.id,
    work,
    timeLimitMs,
    signal,
    onEvent(value) {
      const parsed = schema.safeParse(value);
      if (parsed.success) job.onFound(parsed.data);
    },
  });
  if (!outcome.ok) return outcome;
  const parsed = schema.safeParse(valueOf(outcome.value));
  if (parsed.success) return ok({ found: parsed.data, bytes: bytesOf(outcome.value) });
  return err({ code: "job_failed", name: node.name, detail: "its report is not what was asked for" });
}

function valueOf(outcome: WorkYield): unknown {
  if (outcome.kind === "ping") return outcome;
  try {
    return JSON.parse(outcome.text);
  } catch {
    return undefined;
  }
}

function bytesOf(outcome: WorkYield): number {
  return outcome.kind === "report" ? Buffer.byteLength(outcome.text) : 0;
}
