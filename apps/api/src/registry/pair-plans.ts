import { err, ok, parseIp } from "@weft/protocol";
import type { IpAddress, JobWork, Result } from "@weft/protocol";
import type { z } from "zod";
import type { Failure } from "../domain/failure.ts";
import type { Peer } from "../domain/peer.ts";
import type { FeatureDeps } from "./feature-deps.ts";
import type { JobPlan } from "./job-desk.ts";
import { MtuFoundSchema, PingFoundSchema, RestartFoundSchema, TraceFoundSchema } from "./job-schemas.ts";
import { workOnNode } from "./work-on-node.ts";

export type PlanResult = Result<Omit<JobPlan, "action">, Failure>;

/** Two peers of one network. */
export type Pair = { readonly peer: Peer; readonly target: Peer };

export function pingPlan(deps: FeatureDeps, { peer, target }: Pair, count: number): PlanResult {
  const address = sharedAddress(peer, target);
  if (!address.ok) return address;
  return ok(
    nodePlan(deps, {
      peer,
      target,
      work: { kind: "ping", target: address.value, count },
      input: { targetPeerId: target.id, count },
      timeLimitMs: count * PING_MS + PING_MARGIN_MS,
      schema: PingFoundSchema,
      note: ({ sent, received }) => ({ sent, received }),
    }),
  );
}

/** The way to a peer, or to an address that some peer routes. */
export function tracePlan(
  deps: FeatureDeps,
  { peer, target }: { readonly peer: Peer; readonly target: Peer | null },
  { address, hopsMax }: { readonly address?: string | undefined; readonly hopsMax: number },
): PlanResult {
  const aim = target ? sharedAddress(peer, target) : behind(address ?? "");
  if (!aim.ok) return aim;
  return ok(
    nodePlan(deps, {
      peer,
      target,
      work: { kind: "trace", target: aim.value, hopsMax },
      input: { ...(target ? { targetPeerId: target.id } : { address: aim.value }), hopsMax },
      timeLimitMs: TRACE_MS,
      schema: TraceFoundSchema,
      note: ({ outcome, hops }) => ({ outcome, hops: hops.length }),
    }),
  );
}

export function mtuPlan(deps: FeatureDeps, { peer, target }: Pair): PlanResult {
  const address = sharedAddress(peer, target);
  if (!address.ok) return address;
  return ok(
    nodePlan(deps, {
      peer,
      target,
      work: { kind: "mtuProbe", target: address.value },
      input: { targetPeerId: target.id },
      timeLimitMs: MTU_MS,
      schema: MtuFoundSchema,
      note: ({ state, innerBytes }) => ({ pathState: state, innerBytes }),
    }),
  );
}

export function restartPlan(deps: FeatureDeps, peer: Peer, what: "engine" | "agent"): PlanResult {
  return ok(
    nodePlan(deps, {
      peer,
      target: null,
      work: { kind: "restart", what },
      input: { what },
      timeLimitMs: what === "engine" ? ENGINE_MS : AGENT_MS,
      schema: RestartFoundSchema,
      note: ({ downMs }) => ({ downMs }),
    }),
  );
}

/** An address of the target, of a family that both have. */
export function sharedAddress(peer: Peer, target: Peer): Result<IpAddress, Failure> {
  const address = (peer.ipv4 && target.ipv4) ?? (peer.ipv6 && target.ipv6);
  if (address) return ok(address);
  return err({
    code: "pair_denied",
    from: peer.name,
    to: target.name,
    reason: "because they have no address of the same family",
  });
}

function behind(text: string): Result<IpAddress, Failure> {
  const parsed = parseIp(text);
  const items = [{ pointer: "/address", code: "invalid", message: "expected an IP address" }];
  return parsed.ok ? parsed : err({ code: "invalid_input", items });
}

function nodePlan<T extends object>(
  { live }: FeatureDeps,
  own: {
    readonly peer: Peer;
    readonly target: Peer | null;
    readonly work: JobWork;
    readonly input: JobPlan["input"];
    readonly timeLimitMs: number;
    readonly schema: z.ZodType<T>;
    readonly note: (found: T) => object;
  },
): Omit<JobPlan, "action"> {
  const { peer, target, work, input, timeLimitMs, schema } = own;
  return {
    kind: work.kind,
    peer,
    target,
    input,
    timeLimitMs,
    async run(control) {
      const done = await workOnNode(live, { node: peer, work, timeLimitMs, schema, onFound: control.tell }, control);
      return done.ok ? ok({ result: done.value.found, note: own.note(done.value.found) }) : done;
    },
  };
}

const PING_MS = 1_200;
const PING_MARGIN_MS = 2_000;
const TRACE_MS = 60_000;
const MTU_MS = 60_000;
const ENGINE_MS = 30_000;
const AGENT_MS = 90_000;
