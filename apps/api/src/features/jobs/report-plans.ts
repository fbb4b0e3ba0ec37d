import { ok } from "@weft/protocol";
import type { JobWork } from "@weft/protocol";
import type { z } from "zod";
import type { Peer } from "../../domain/peer.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf } from "../../registry/handler.ts";
import type { JobPlan } from "../../registry/job-desk.ts";
import { jobsContract } from "./contract.ts";
import { workOnNode } from "../../registry/work-on-node.ts";

/** Where an agent spends its processor time. */
export function profilePlan(
  deps: FeatureDeps,
  peer: Peer,
  { seconds, frequencyHz, format }: InputOf<typeof jobsContract.profile>,
): Omit<JobPlan, "action"> {
  return reportPlan(deps, {
    peer,
    work: { kind: "profile", seconds, frequencyHz, format },
    input: { seconds, frequencyHz, format },
    // Stacks become names on the node after the recording.
    timeLimitMs: (seconds + READING_SECONDS) * 1_000,
    schema: jobsContract.profile.output,
  });
}

/** What helps to find a fault of an agent. */
export function bundlePlan(
  deps: FeatureDeps,
  peer: Peer,
  { addresses }: InputOf<typeof jobsContract.debugBundle>,
): Omit<JobPlan, "action"> {
  return reportPlan(deps, {
    peer,
    work: { kind: "debugBundle", addresses },
    input: { addresses },
    timeLimitMs: BUNDLE_MS,
    schema: jobsContract.debugBundle.output,
  });
}

function reportPlan(
  { live }: FeatureDeps,
  own: {
    readonly peer: Peer;
    readonly work: Extract<JobWork, { kind: "profile" | "debugBundle" }>;
    readonly input: JobPlan["input"];
    readonly timeLimitMs: number;
    readonly schema: z.ZodType<object>;
  },
): Omit<JobPlan, "action"> {
  const { peer, work, input, timeLimitMs, schema } = own;
  return {
    kind: work.kind,
    peer,
    target: null,
    input,
    timeLimitMs,
    async run(control) {
      const done = await workOnNode(live, { node: peer, work, timeLimitMs, schema, onFound: () => undefined }, control);
      return done.ok ? ok({ result: done.value.found, note: { bytes: done.value.bytes } }) : done;
    },
  };
}

const READING_SECONDS = 30;
const BUNDLE_MS = 20_000;
