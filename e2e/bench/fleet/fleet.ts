import { setTimeout as pause } from "node:timers/promises";

import type { PeerId } from "@weft/protocol";

import { connectLightAgent, type Connected, type LightAgent } from "./light-agent.ts";
import { createSharedWork } from "./map-follower.ts";
import { makeNodeIdentity, type NodeIdentity } from "./node-identity.ts";

/** Many agents of one server in this process. */
export type Fleet = {
  readonly agents: () => readonly LightAgent[];
  /** Lets so many new nodes join; they stay. */
  readonly join: (count: number, joinKey: string) => Promise<readonly LightAgent[]>;
  /** Nodes come back at once after their streams broke, all or the first ones; they obey a refusal as agents do. */
  readonly comeBack: (as: "with the last map" | "without a map", count?: number) => Promise<readonly LightAgent[]>;
  /** Ends all streams as a pulled plug does. */
  readonly cut: () => void;
  /** How many nodes have confirmed a map that this peer is in, and when the last of them did (`performance.now`). */
  readonly learned: (id: PeerId) => { readonly count: number; readonly lastMs: number };
  /** How often nodes were asked to come later. */
  readonly refusals: () => number;
};

type Member = {
  readonly identity: NodeIdentity;
  readonly hostname: string;
  readonly localAddress: string;
  agent: LightAgent | undefined;
};

/** The fleet of a server; a server that moved keeps its fleet through `url`. */
export function createFleet(url: () => string): Fleet {
  const members: Member[] = [];
  const shared = createSharedWork();
  const learned = new Map<PeerId, { count: number; lastMs: number }>();
  let refusals = 0;
  const onApplied = (_agent: LightAgent, added: readonly PeerId[]) => {
    // Whole networks that are told at once are nobody's arrival.
    if (added.length > ARRIVALS_MAX) return;
    for (const id of added) {
      const entry = learned.get(id) ?? { count: 0, lastMs: 0 };
      entry.count += 1;
      entry.lastMs = performance.now();
      learned.set(id, entry);
    }
  };
  const connect = async (member: Member, how: { readonly joinKey?: string; readonly keepsMap: boolean }) => {
    const map = how.keepsMap ? member.agent?.map : undefined;
    const { joinKey } = how;
    const options = { ...member, url: url(), shared, map, onApplied, ...(joinKey === undefined ? {} : { joinKey }) };
    member.agent = await insist(
      () => connectLightAgent(options),
      () => (refusals += 1),
    );
    return member.agent;
  };
  return {
    agents: () => members.flatMap(({ agent }) => agent ?? []),
    async join(count, joinKey) {
      const fresh = Array.from({ length: count }, (_, at) => makeMember(members.length + at));
      members.push(...fresh);
      return inLanes(fresh, (member) => connect(member, { joinKey, keepsMap: false }));
    },
    comeBack: (as, count = members.length) =>
      Promise.all(members.slice(0, count).map((member) => connect(member, { keepsMap: as === "with the last map" }))),
    cut() {
      for (const { agent } of members) agent?.cut();
    },
    learned: (id) => learned.get(id) ?? { count: 0, lastMs: 0 },
    refusals: () => refusals,
  };
}

function makeMember(number: number): Member {
  const [high, middle, low] = [number >> 15, (number >> 7) & 255, 1 + (number & 127)];
  return {
    identity: makeNodeIdentity(),
    hostname: `host-${String(number)}`,
    localAddress: `127.${String(16 + high)}.${String(middle)}.${String(low)}`,
    agent: undefined,
  };
}

/** Connects again and again, as late as the server asks, else with full jitter, as agents do. */
async function insist(connect: () => Promise<Connected>, onRefusal: () => void): Promise<LightAgent> {
  for (let limitMs = FIRST_WAIT_MS; ; limitMs = Math.min(2 * limitMs, LAST_WAIT_MS)) {
    const outcome = await connect();
    if (outcome.ok) return outcome.agent;
    if (limitMs === LAST_WAIT_MS && !isPassing(outcome.reason)) throw new Error(`no stream: ${outcome.reason}`);
    onRefusal();
    await pause(outcome.retryAfterMs > 0 ? outcome.retryAfterMs * (1 + Math.random() / 4) : limitMs * Math.random());
  }
}

function isPassing(reason: string): boolean {
  return reason.includes("overload") || reason.includes("restart") || reason.includes("503");
}

async function inLanes<In, Out>(items: readonly In[], run: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  const queue = items.entries();
  const lane = async () => {
    for (const [place, item] of queue) results[place] = await run(item);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

const LANES = 32;
const ARRIVALS_MAX = 50;
const FIRST_WAIT_MS = 1_000;
const LAST_WAIT_MS = 60_000;
