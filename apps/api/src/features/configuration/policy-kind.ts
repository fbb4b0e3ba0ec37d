import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { z } from "zod";
import type { Failure } from "../../domain/failure.ts";
import { contracts } from "../../registry/contracts.ts";
import type { PartOf } from "./document.ts";
import { canonical } from "./kind.ts";
import type { Kind } from "./kind.ts";
import { fault, networkIdOf } from "./work.ts";
import type { Place, Work } from "./work.ts";

type Policy = PartOf<"policy">;
type RulePart = Policy["rules"][number];
type TestPart = Policy["tests"][number];
type PolicyView = z.output<typeof contracts.policy.get.output>;
type Side = PolicyView["rules"][number]["source"];
type DocumentInput = z.input<typeof contracts.policy.replace.input>;

/** The policy is one document: its rules are an order, not a set. */
export const policyKind: Kind<Policy, Place> = {
  kind: "policy",
  keyOf: () => "",
  async read(work, place) {
    const policy = await work.perform(contracts.policy.get, { networkId: networkIdOf(place) });
    if (!policy.ok) return policy;
    const { rules, tests } = policy.value;
    const item = {
      rules: rules.map((rule) => rulePart(rule, place)),
      tests: tests.map((test) => testPart(test, place)),
    };
    return ok([{ id: networkIdOf(place), item }]);
  },
  create: (work, place, item) => replacePolicy(work, place, item),
  change: (work, place, { after }) => replacePolicy(work, place, after),
  // A network always has one.
  remove: () => Promise.resolve(ok(undefined)),
  adopt: ({ rules, tests }) => ({
    rules: rules.map((rule) => ({ ...rule, ports: rule.ports?.map((text) => rangeText(portRange(text))) ?? null })),
    tests,
  }),
  dangers: policyDangers,
};

function policyDangers(before: Policy | null, after: Policy | null): string[] {
  const kept = new Set(after?.rules.map(canonical));
  const denies = before?.rules.filter(
    (rule) => rule.action === "deny" && rule.state === "on" && !kept.has(canonical(rule)),
  );
  const old = new Set(before?.rules.map(canonical));
  const opens = after?.rules.filter((rule) => isWideOpen(rule) && !old.has(canonical(rule)));
  const tests = new Set(after?.tests.map(({ name }) => name));
  const lost = before?.tests.filter(({ name }) => !tests.has(name));
  return [
    ...(opens?.length ? ["a rule lets everybody begin anything with everybody"] : []),
    ...(denies?.length ? [`${denies.length} of the rules that deny go or change`] : []),
    ...(lost?.length ? [`${lost.length} of the tests go`] : []),
  ];
}

function isWideOpen({ action, state, from, to, protocol }: RulePart): boolean {
  return action === "allow" && state === "on" && from === "all" && to === "all" && protocol === null;
}

async function replacePolicy(work: Work, place: Place, wanted: Policy): Promise<Result<unknown, Failure>> {
  const networkId = networkIdOf(place);
  const current = await work.perform(contracts.policy.get, { networkId });
  if (!current.ok) return current;
  const rules: DocumentInput["rules"] = [];
  const free = new Set(current.value.rules);
  for (const [index, part] of wanted.rules.entries()) {
    const at = `${place.network}/policy/rules/${index}`;
    const source = sideOf(part.from, place, `${at}/from`);
    if (!source.ok) return source;
    const destination = sideOf(part.to, place, `${at}/to`);
    if (!destination.ok) return destination;
    const same = [...free].find((rule) => canonical(rulePart(rule, place)) === canonical(part));
    const twin = same ?? [...free].find((rule) => part.name !== "" && rule.name === part.name);
    if (twin) free.delete(twin);
    const { from: _from, to: _to, ports, ...said } = part;
    rules.push({
      ...said,
      ...(twin && { id: twin.id }),
      source: source.value,
      destination: destination.value,
      ports: ports?.map(portRange) ?? null,
    });
  }
  const tests: DocumentInput["tests"] = [];
  for (const [index, part] of wanted.tests.entries()) {
    const at = `${place.network}/policy/tests/${index}`;
    const from = sideOf(part.from, place, `${at}/from`);
    if (!from.ok) return from;
    const to = sideOf(part.to, place, `${at}/to`);
    if (!to.ok) return to;
    tests.push({ ...part, from: from.value, to: to.value });
  }
  if (work.authority === "trial") await warnOfReach(work, { networkId, rules, tests });
  return work.perform(contracts.policy.replace, { networkId, rules, tests });
}

/** Says who gains and who loses reach among the peers that are there. */
async function warnOfReach(work: Work, input: DocumentInput): Promise<void> {
  const seen = await work.perform(contracts.policy.validate, input);
  if (!seen.ok) return;
  const { gained, lost } = seen.value;
  if (gained.total > 0) work.warnings.push(`${gained.total} pairs of peers gain reach`);
  if (lost.total > 0) work.warnings.push(`${lost.total} pairs of peers lose reach`);
}

function rulePart(rule: PolicyView["rules"][number], place: Place): RulePart {
  const { name, description, action, state, source, destination, direction, protocol, ports, icmpType, icmpCode } =
    rule;
  const from = sideText(source, place);
  const to = sideText(destination, place);
  const ranges = ports?.map(rangeText) ?? null;
  return { name, description, action, state, from, to, direction, protocol, ports: ranges, icmpType, icmpCode };
}

function testPart({ name, from, to, protocol, port, expect }: PolicyView["tests"][number], place: Place): TestPart {
  return { name, from: sideText(from, place), to: sideText(to, place), protocol, port, expect };
}

function sideText(side: Side, place: Place): string {
  switch (side.kind) {
    case "all":
      return "all";
    case "group":
      return `group:${place.groups.nameOf(side.id)}`;
    case "peer":
      return `peer:${place.peers.nameOf(side.id)}`;
  }
}

function sideOf(text: string, place: Place, at: string): Result<Side, Failure> {
  if (text === "all") return ok({ kind: "all" });
  const name = text.slice(text.indexOf(":") + 1);
  const kind = text.startsWith("group:") ? "group" : "peer";
  const id = place[kind === "group" ? "groups" : "peers"].idOf(name);
  return id === undefined ? err(fault(at, `there is no ${kind} ${name} in this network`)) : ok({ kind, id });
}

function rangeText({ low, high }: { readonly low: number; readonly high: number }): string {
  return low === high ? String(low) : `${low}-${high}`;
}

function portRange(text: string): { readonly low: number; readonly high: number } {
  const [low = "", high = low] = text.split("-");
  return { low: Number(low), high: Number(high) };
}
