import { err, ok } from "@weft/protocol";
import type { NetworkId, PeerId, Result } from "@weft/protocol";
import { z } from "zod";
import type { Executor } from "../db/client.ts";
import { unknownGroups } from "../db/groups-repository.ts";
import { publishChanges } from "../db/networks-repository.ts";
import { peersNamed } from "../db/peers-repository.ts";
import { insertPolicyVersion, latestPolicy } from "../db/policy-repository.ts";
import { allRules, changeRule, deleteRules, insertRule } from "../db/rules-repository.ts";
import type { Rule } from "../db/rules-repository.ts";
import type { PolicyPeer } from "../domain/access-policy.ts";
import type { Failure } from "../domain/failure.ts";
import { ruleFault, selectorKey } from "../domain/policy-rule.ts";
import type { Selector } from "../domain/policy-rule.ts";
import { runPolicyTests } from "../domain/policy-test.ts";
import type { PolicyTest, PolicyTestResult } from "../domain/policy-test.ts";
import { recordAudit } from "./audit.ts";
import type { AuditNote, BY_SERVER } from "./audit.ts";
import type { Call } from "./call.ts";
import { POLICY_VERSIONS_MAX } from "./limits.ts";
import { PolicyTestSchema, policyTestOf } from "./policy-schemas.ts";
import { ruleView } from "./rule-view.ts";

/** Rules in the order in which they are asked, and the tests beside them. */
export type Policy = { readonly rules: readonly Rule[]; readonly tests: readonly PolicyTest[] };

type RuleFault = Extract<Failure, { readonly code: "rule_fault" }>;

/** The policy in force. */
export type CurrentPolicy = Policy & {
  /** 0 until somebody touches the policy that the network began with. */
  readonly version: number;
  readonly author: string | null;
  readonly at: Date | null;
};

export async function readPolicy(db: Executor, networkId: NetworkId): Promise<CurrentPolicy> {
  const latest = await latestPolicy(db, networkId);
  return {
    rules: await allRules(db, networkId),
    tests: latest ? DocumentSchema.parse(latest.document).tests.map(policyTestOf) : [],
    version: latest?.version ?? 0,
    author: latest?.author ?? null,
    at: latest?.at ?? null,
  };
}

/** What a kept version says beside its rules; those are read by who restores one. */
const DocumentSchema = z.object({ tests: z.array(PolicyTestSchema) });

/** Says why a policy cannot be: a rule that makes no sense, a side that is not there, or a test that fails. */
export async function checkPolicy(db: Executor, networkId: NetworkId, policy: Policy): Promise<Result<void, Failure>> {
  const fault = await findFault(db, networkId, policy);
  if (fault) return err(fault);
  const failed = (await runTests(db, networkId, policy)).filter(({ outcome }) => outcome === "failed");
  return failed.length === 0 ? ok(undefined) : err({ code: "policy_test_failed", failed });
}

/** Runs the tests of a policy against its rules. */
export async function runTests(
  db: Executor,
  networkId: NetworkId,
  { rules, tests }: Policy,
): Promise<readonly PolicyTestResult[]> {
  const named = tests.flatMap(({ from, to }) => [from, to].flatMap((side) => (side.kind === "peer" ? [side.id] : [])));
  const peers = await peersNamed(db, networkId, named);
  return runPolicyTests(rules, tests, new Map<PeerId, PolicyPeer>(peers.map((peer) => [peer.id, peer])));
}

/**
 * Puts a policy in force: checks it, writes what differs, keeps it as a version, tells the nodes and the audit log.
 * The network is locked.
 */
export async function savePolicy(
  tx: Executor,
  who: Pick<Call, "actor" | "address" | "requestId"> | typeof BY_SERVER,
  change: {
    readonly networkId: NetworkId;
    readonly before: CurrentPolicy;
    readonly after: Policy;
    /** "made": what made it necessary has happened, whatever tests say of it. */
    readonly checks: "wanted" | "made";
    readonly note: AuditNote;
    readonly at: Date;
  },
): Promise<Result<CurrentPolicy, Failure>> {
  const { networkId, before, after, at } = change;
  if (change.checks === "wanted") {
    const fits = await checkPolicy(tx, networkId, after);
    if (!fits.ok) return fits;
  }
  await writeDifferences(tx, before.rules, after.rules);
  const author = authorOf(who.actor);
  const version = before.version + 1;
  const document = { rules: after.rules.map(ruleView), tests: after.tests };
  await insertPolicyVersion(tx, { networkId, version, document, author, at }, { keep: POLICY_VERSIONS_MAX });
  // Nodes know nothing of names, descriptions and tests.
  if (asNodesSeeIt(before.rules) !== asNodesSeeIt(after.rules)) {
    await publishChanges(tx, networkId, { changes: [{ kind: "rules" }], at });
  }
  await recordAudit(tx, who, { ...change.note, at });
  return ok({ ...after, version, author, at });
}

/** What about a policy makes no sense, and where; its tests are not run. */
export async function findFault(
  db: Executor,
  networkId: NetworkId,
  { rules, tests }: Policy,
): Promise<RuleFault | null> {
  for (const [place, rule] of rules.entries()) {
    const fault = ruleFault(rule);
    if (fault) return { code: "rule_fault", field: `rules/${place}/${fault.field}`, reason: fault.reason };
  }
  const sides = [
    ...rules.flatMap(({ source, destination }, place) => [
      { field: `rules/${place}/source`, side: source },
      { field: `rules/${place}/destination`, side: destination },
    ]),
    ...tests.flatMap(({ from, to }, place) => [
      { field: `tests/${place}/from`, side: from },
      { field: `tests/${place}/to`, side: to },
    ]),
  ];
  const unknown = await unknownSides(
    db,
    networkId,
    sides.map(({ side }) => side),
  );
  const lost = sides.find(({ side }) => unknown.has(selectorKey(side)));
  if (!lost) return null;
  const reason = `there is no ${lost.side.kind} ${selectorKey(lost.side)} in this network`;
  return { code: "rule_fault", field: lost.field, reason };
}

async function unknownSides(
  db: Executor,
  networkId: NetworkId,
  sides: readonly Selector[],
): Promise<ReadonlySet<string>> {
  const ids = (kind: "group" | "peer") => [
    ...new Set(sides.flatMap((side) => (side.kind === kind ? [selectorKey(side)] : []))),
  ];
  const groups = await unknownGroups(db, networkId, ids("group"));
  const found = new Set<string>((await peersNamed(db, networkId, ids("peer"))).map(({ id }) => id));
  return new Set([...groups, ...ids("peer").filter((id) => !found.has(id))]);
}

async function writeDifferences(tx: Executor, before: readonly Rule[], after: readonly Rule[]): Promise<void> {
  const old = new Map(before.map((rule) => [rule.id, rule]));
  const kept = new Set(after.map(({ id }) => id));
  await deleteRules(
    tx,
    before.flatMap(({ id }) => (kept.has(id) ? [] : [id])),
  );
  for (const rule of after) {
    const was = old.get(rule.id);
    if (!was) await insertRule(tx, rule);
    else if (JSON.stringify(ruleView(was)) !== JSON.stringify(ruleView(rule))) await changeRule(tx, rule);
  }
}

function asNodesSeeIt(rules: readonly Rule[]): string {
  return JSON.stringify(
    rules
      .filter(({ state }) => state === "on")
      .map(({ id, action, source, destination, direction, protocol, ports, icmpType, icmpCode }) => [
        id,
        action,
        selectorKey(source),
        selectorKey(destination),
        direction,
        protocol,
        ports,
        icmpType,
        icmpCode,
      ]),
  );
}

function authorOf(actor: Call["actor"] | typeof BY_SERVER.actor): string | null {
  switch (actor.kind) {
    case "user":
    case "token":
      return actor.login;
    case "node":
      return actor.name;
    case "anonymous":
    case "server":
      return null;
  }
}
