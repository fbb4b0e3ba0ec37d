import { randomBytes } from "node:crypto";
import { err, ok } from "@weft/protocol";
import type { Result, ThroughputWork } from "@weft/protocol";
import type { z } from "zod";
import { previousJob } from "../../db/jobs-repository.ts";
import { compilePolicy, decidingRule } from "../../domain/access-policy.ts";
import type { Failure } from "../../domain/failure.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf } from "../../registry/handler.ts";
import type { JobControl, JobFinding } from "../../registry/job-desk.ts";
import { ThroughputEndSchema, ThroughputFoundSchema } from "../../registry/job-schemas.ts";
import { readPolicy } from "../../registry/save-policy.ts";
import type { jobsContract } from "./contract.ts";
import { sharedAddress } from "../../registry/pair-plans.ts";
import type { Pair, PlanResult } from "../../registry/pair-plans.ts";
import { workOnNode } from "../../registry/work-on-node.ts";

type Wish = Pick<InputOf<typeof jobsContract.throughput>, "seconds" | "rateMbit" | "port">;
type End = z.output<typeof ThroughputEndSchema>;
type Found = z.output<typeof ThroughputFoundSchema>;

/** TCP between two nodes, first there, then back, over one connection that the node begins. */
export async function throughputPlan(deps: FeatureDeps, pair: Pair, wish: Wish): Promise<PlanResult> {
  const { peer, target } = pair;
  const denied = await whyDenied(deps, pair, wish.port);
  if (denied !== undefined) return err({ code: "pair_denied", from: peer.name, to: target.name, reason: denied });
  const [there, here] = [sharedAddress(peer, target), sharedAddress(target, peer)];
  if (!there.ok) return there;
  if (!here.ok) return here;
  const { seconds, rateMbit, port } = wish;
  const same = {
    kind: "throughput",
    port,
    seconds,
    rate: (rateMbit ?? 0) * 1_000_000,
    secret: Uint8Array.from(randomBytes(32)),
  } as const;
  return ok({
    kind: "throughput",
    peer,
    target,
    input: { targetPeerId: target.id, seconds, rateMbit: rateMbit ?? null, port },
    timeLimitMs: timeLimitMs(seconds),
    run: (control) =>
      measure(
        deps,
        { ...pair, control },
        {
          send: { ...same, role: "send", peer: there.value },
          receive: { ...same, role: "receive", peer: here.value },
        },
      ),
  });
}

/** Why policy does not let the connection of the test begin. */
async function whyDenied(deps: FeatureDeps, { peer, target }: Pair, port: number): Promise<string | undefined> {
  const policy = compilePolicy((await readPolicy(deps.database.db, peer.networkId)).rules);
  const packet = { protocol: "tcp", port } as const;
  const rule = decidingRule(policy, policy.classOf(peer), { to: policy.classOf(target), packet });
  if (rule?.action === "allow") return undefined;
  return rule ? `rule ${rule.id} denies tcp to port ${port}` : `no rule allows tcp to port ${port}`;
}

/** The target listens first; what either end says until then or after it ends both. */
async function measure(
  deps: FeatureDeps,
  { peer, target, control }: Pair & { readonly control: JobControl },
  works: { readonly send: ThroughputWork; readonly receive: ThroughputWork },
): Promise<Result<JobFinding, Failure>> {
  const ends: { send?: End; receive?: End } = {};
  const own = new AbortController();
  const signal = AbortSignal.any([control.signal, own.signal]);
  const limit = timeLimitMs(works.send.seconds);
  let listens = (): void => undefined;
  const listening = new Promise<void>((resolve) => (listens = resolve));
  const note = (role: "send" | "receive", end: End) => {
    ends[role] = end;
    if (role === "receive") listens();
    control.tell(foundOf(ends, null));
  };
  const end = (role: "send" | "receive") =>
    workOnNode(
      deps.live,
      {
        node: role === "send" ? peer : target,
        work: works[role],
        timeLimitMs: limit,
        schema: ThroughputEndSchema,
        onFound: (found) => note(role, found),
      },
      { signal },
    );
  const receiving = end("receive");
  const early = await Promise.race([receiving, listening]);
  if (early) return early.ok ? err({ code: "job_failed", name: target.name, detail: "it did not listen" }) : early;
  const sending = end("send");
  // Whoever fails first tells why; the other one would wait in vain.
  const first = await Promise.race([sending, receiving]);
  if (!first.ok) own.abort("cancelled");
  const [sent, received] = [await sending, await receiving];
  if (!first.ok) return first;
  if (!sent.ok) return sent;
  if (!received.ok) return received;
  const all = { send: sent.value.found, receive: received.value.found };
  const result = foundOf(all, await previousOf(deps, control.jobId));
  return ok({ result, note: { thereMbit: result.there?.mbit ?? null, backMbit: result.back?.mbit ?? null } });
}

/** Each direction as its receiver counted it, with what its sender sent again. */
function foundOf(
  { send, receive }: { readonly send?: End; readonly receive?: End },
  previous: Found["previous"],
): Found {
  return {
    kind: "throughput",
    there: directionOf(receive, send?.retransmits ?? null),
    back: directionOf(send, receive?.retransmits ?? null),
    cpu: { node: send?.cpu ?? null, target: receive?.cpu ?? null },
    previous,
  };
}

function directionOf(end: End | undefined, retransmits: number | null): Found["there"] {
  if (!end || end.received.ms === 0) return null;
  const { bytes, ms, mbitPerSecond } = end.received;
  return { mbit: round((bytes * 8) / ms / 1_000), mbitPerSecond: mbitPerSecond.map(round), bytes, retransmits };
}

async function previousOf({ database: { db } }: FeatureDeps, jobId: string): Promise<Found["previous"]> {
  const before = await previousJob(db, jobId);
  if (!before) return null;
  const found = ThroughputFoundSchema.safeParse(JSON.parse(before.result ?? "null"));
  if (!found.success) return null;
  const { there, back } = found.data;
  return {
    jobId: before.id,
    createdAt: before.createdAt.toISOString(),
    thereMbit: there?.mbit ?? null,
    backMbit: back?.mbit ?? null,
  };
}

/** Two directions, the connection before them, and the last word after. */
function timeLimitMs(seconds: number): number {
  return (2 * seconds + MARGIN_SECONDS) * 1_000;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

const MARGIN_SECONDS = 15;
