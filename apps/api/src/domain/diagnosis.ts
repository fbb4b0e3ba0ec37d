import type { PolicyRule } from "./policy-rule.ts";
import type { PeerState } from "./peer-state.ts";

/** What must be in order for one peer to reach another, in the order in which it is looked at. */
export const DIAGNOSIS_STEPS = ["approval", "expiry", "policy", "route", "gateway", "path", "handshake"] as const;

/** One look: what was found, as a sentence. */
export type DiagnosisStep = {
  readonly step: (typeof DIAGNOSIS_STEPS)[number];
  readonly outcome: "good" | "bad" | "unknown";
  readonly reason: string;
};

/** What is known about one end. */
export type DiagnosedPeer = {
  readonly name: string;
  readonly state: PeerState;
  readonly presence: "online" | "offline" | "unknown";
  readonly map: "applied" | "pending" | "none";
  readonly families: readonly (4 | 6)[];
  readonly endpointCount: number;
};

/** What is known about the way of a static client into the network. */
export type DiagnosedClient = {
  readonly name: string;
  /** The node that speaks for it; `null` = none. */
  readonly gateway: string | null;
  /** What the gateway reported about its way to the client; `undefined` when it reported nothing. */
  readonly link: { readonly lastHandshakeAgeMs: number | null } | undefined;
};

/** Everything that the question is answered from. */
export type DiagnosisFacts = {
  readonly from: DiagnosedPeer;
  readonly to: DiagnosedPeer;
  /** The rule that decides about the packet; none denies it. */
  readonly rule: Pick<PolicyRule, "id" | "action"> | undefined;
  /** Static clients among the two ends; their gateways stand for them as ends of the path. */
  readonly clients: readonly DiagnosedClient[];
  /** What `from` reported about its way to `to`; `undefined` when it reported nothing. */
  readonly link: { readonly endpoint: string | null; readonly lastHandshakeAgeMs: number | null } | undefined;
};

/** Walks from the decision of people to the packets on the wire; what is good is told, too. */
export function diagnose(facts: DiagnosisFacts): readonly DiagnosisStep[] {
  return [
    approval(facts),
    expiry(facts),
    policy(facts),
    route(facts),
    ...facts.clients.slice(0, 1).map(() => gateway(facts)),
    // A client that talks to its own gateway has no other way than the one that was looked at.
    ...(facts.from.name === facts.to.name ? [] : [path(facts), handshake(facts)]),
  ];
}

/** "cannot" when a step is bad, "reaches" when the newest handshake proves it. */
export function verdictOf(steps: readonly DiagnosisStep[]): "reaches" | "cannot" | "unclear" {
  if (steps.some(({ outcome }) => outcome === "bad")) return "cannot";
  return steps.every(({ outcome }) => outcome === "good") ? "reaches" : "unclear";
}

function approval({ from, to }: DiagnosisFacts): DiagnosisStep {
  const out = [from, to].find(({ state }) => state === "pending" || state === "rejected" || state === "disabled");
  if (!out) return good("approval", "both were let in");
  const next = out.state === "disabled" ? "enable it" : "approve it";
  return bad("approval", `${out.name} is ${out.state}: ${next}`);
}

function expiry({ from, to }: DiagnosisFacts): DiagnosisStep {
  const ended = [from, to].find(({ state }) => state === "expired");
  if (ended)
    return bad("expiry", `the membership of ${ended.name} has expired: set another expiry, or let it join again`);
  return good("expiry", "both memberships run");
}

function policy({ rule }: DiagnosisFacts): DiagnosisStep {
  if (!rule) return bad("policy", "no rule speaks of it, so it is denied: add one that allows it");
  if (rule.action === "deny") return bad("policy", `rule ${rule.id} denies it`);
  return good("policy", `rule ${rule.id} allows it`);
}

function route({ from, to }: DiagnosisFacts): DiagnosisStep {
  if (!from.families.some((family) => to.families.includes(family))) {
    return bad("route", "they have no address of the same family");
  }
  const stale = [from, to].find(({ map }) => map === "pending");
  if (stale) return unknown("route", `${stale.name} has not applied the newest map yet`);
  const without = [from, to].find(({ map }) => map === "none");
  if (without) return unknown("route", `${without.name} is not connected, so whether it has the newest map is unknown`);
  return good("route", "both have the newest map, and with it each other's addresses");
}

function gateway({ clients }: DiagnosisFacts): DiagnosisStep {
  const alone = clients.find((client) => client.gateway === null);
  if (alone) return bad("gateway", `no node speaks for ${alone.name}: choose a gateway for it`);
  const ages = clients.map(({ name, gateway: speaker, link }) => ({
    name,
    speaker,
    age: link?.lastHandshakeAgeMs ?? null,
  }));
  const away = ages.find(({ age }) => age === null || age > SESSION_MS_MAX);
  if (!away) return good("gateway", ages.map(({ name, speaker }) => `${name} is connected to ${speaker}`).join(", "));
  const since = away.age === null ? "has not completed a handshake" : "has completed no handshake for three minutes";
  return unknown("gateway", `${away.name} ${since} with its gateway ${away.speaker}: switch its tunnel on`);
}

function path({ from, to, link }: DiagnosisFacts): DiagnosisStep {
  const away = [from, to].find(({ presence }) => presence === "offline");
  if (link?.endpoint) return good("path", `${from.name} sends to ${link.endpoint}`);
  if (away) return bad("path", `${away.name} is offline`);
  if (from.endpointCount === 0 && to.endpointCount === 0) return bad("path", "neither has an address that is known");
  return unknown("path", `${from.name} has not sent anything to ${to.name} yet`);
}

function handshake({ from, to, link }: DiagnosisFacts): DiagnosisStep {
  const ageMs = link?.lastHandshakeAgeMs ?? null;
  if (ageMs === null) {
    return unknown(
      "handshake",
      `${from.name} has completed no handshake with ${to.name}: a ping from it would begin one`,
    );
  }
  const seconds = Math.round(ageMs / 1_000);
  if (ageMs <= SESSION_MS_MAX) return good("handshake", `the last handshake was ${seconds} s ago`);
  return unknown("handshake", `the last handshake was ${seconds} s ago: nothing was sent since, or nothing comes back`);
}

/** Sessions are made anew after two minutes of use and end after three. */
const SESSION_MS_MAX = 180_000;

function good(step: DiagnosisStep["step"], reason: string): DiagnosisStep {
  return { step, outcome: "good", reason };
}

function bad(step: DiagnosisStep["step"], reason: string): DiagnosisStep {
  return { step, outcome: "bad", reason };
}

function unknown(step: DiagnosisStep["step"], reason: string): DiagnosisStep {
  return { step, outcome: "unknown", reason };
}
