import { CAPABILITY, concealCommon, parseConcealLines, PLAIN_CONCEAL, Secret } from "@weft/protocol";
import type { ConcealProfileId, GroupId, MapConceal } from "@weft/protocol";

/** One version of a profile, as it stands in a plan: the plan goes on when the profile is changed or removed. */
export type ConcealChoice = {
  readonly profileId: ConcealProfileId;
  readonly name: string;
  readonly version: number;
  /** Lines of key=value; they hold a key. */
  readonly settings: string;
};

/** How the nodes of a network disguise their datagrams. `null` in place of a choice means plain WireGuard. */
export type ConcealPlan = {
  /** What everybody speaks who is not on the stage, and what a roll-back goes back to. */
  readonly base: ConcealChoice | null;
  /** What the stage speaks. */
  readonly next: ConcealChoice | null;
  /** Groups on the stage; empty = everybody. */
  readonly groupIds: readonly GroupId[];
  readonly state: "watched" | "kept" | "rolled-back";
  readonly startedAtMs: number;
  /** How long handshakes are watched before the plan is kept. */
  readonly watchSeconds: number;
  /** Why it was rolled back. */
  readonly reason: string | null;
};

/** What counts of a peer here. */
type Member = { readonly groupIds: readonly GroupId[]; readonly capabilities: readonly string[] };
type NamedMember = Member & { readonly name: string; readonly state: string };

/** Whether the node speaks what the stage speaks. */
export function isOnStage(plan: ConcealPlan, peer: Pick<Member, "groupIds">): boolean {
  if (plan.state === "rolled-back") return false;
  return plan.groupIds.length === 0 || plan.groupIds.some((id) => peer.groupIds.includes(id));
}

/** What the plan wants of a node, whether or not it can. */
export function wantedChoice(plan: ConcealPlan | null, peer: Pick<Member, "groupIds">): ConcealChoice | null {
  if (!plan) return null;
  return isOnStage(plan, peer) ? plan.next : plan.base;
}

/** Whether the node takes profiles from its map. */
export function canConceal(peer: Pick<Member, "capabilities">): boolean {
  return peer.capabilities.includes(CAPABILITY.conceal);
}

/** What a node is told; a node that cannot is told nothing. */
export function concealFor(plan: ConcealPlan | null, peer: Member): MapConceal | undefined {
  const choice = canConceal(peer) ? wantedChoice(plan, peer) : null;
  if (!choice) return undefined;
  return { profileId: choice.profileId, version: choice.version, settings: new Secret(choice.settings) };
}

/** What the whole network goes back to, or goes on from, when a new plan begins. */
export function settledChoice(plan: ConcealPlan | null): ConcealChoice | null {
  if (!plan) return null;
  return plan.state !== "rolled-back" && plan.groupIds.length === 0 ? plan.next : plan.base;
}

/** Pairs of nodes that may talk and would not understand each other; `examples` names the first of them. */
export function separatedPairs<Peer extends NamedMember>(
  plan: ConcealPlan,
  peers: readonly Peer[],
  mayTalk: (left: Peer, right: Peer) => boolean,
): { readonly count: number; readonly examples: readonly string[] } {
  const common = commonTexts();
  const active = peers.filter(({ state }) => state === "active");
  const speaking = active.map((peer) => ({ peer, text: common(canConceal(peer) ? wantedChoice(plan, peer) : null) }));
  // Where all speak alike no pair needs to be looked at.
  if (new Set(speaking.map(({ text }) => text)).size < 2) return { count: 0, examples: [] };
  let count = 0;
  const examples: string[] = [];
  for (const [place, left] of speaking.entries()) {
    for (const right of speaking.slice(place + 1)) {
      if (left.text === right.text || !mayTalk(left.peer, right.peer)) continue;
      count += 1;
      if (examples.length < EXAMPLES_MAX) examples.push(`${left.peer.name} and ${right.peer.name}`);
    }
  }
  return { count, examples };
}

/** What both ends must have in common, read once per version. */
function commonTexts(): (choice: ConcealChoice | null) => string {
  const known = new Map<string, string>();
  return (choice) => {
    const key = choice ? `${choice.profileId} ${choice.version}` : "";
    const text = known.get(key) ?? commonOf(choice);
    known.set(key, text);
    return text;
  };
}

function commonOf(choice: ConcealChoice | null): string {
  const read = choice ? parseConcealLines(choice.settings) : undefined;
  if (read && !read.ok) throw new Error(`the settings of ${choice?.name} were checked when they were stored`);
  return concealCommon(read?.value ?? PLAIN_CONCEAL);
}

const EXAMPLES_MAX = 5;
