import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { z } from "zod";
import { lockNetwork } from "../../db/networks-repository.ts";
import { findPolicyVersion } from "../../db/policy-repository.ts";
import { findRule } from "../../db/rules-repository.ts";
import type { Executor } from "../../db/client.ts";
import { transact } from "../../db/transact.ts";
import type { Failure } from "../../domain/failure.ts";
import type { Network } from "../../domain/peer.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { POLICY_VERSIONS_MAX } from "../../registry/limits.ts";
import { PolicyTestSchema, RuleSchema } from "../../registry/policy-schemas.ts";
import { readPolicy, savePolicy } from "../../registry/save-policy.ts";
import { checkVersion, tagOf } from "../../registry/versions.ts";
import { policyContract } from "./contract.ts";
import { policyFrom, repeatedRule } from "./policy-document.ts";
import { policyView } from "./policy-view.ts";

type Document = Pick<InputOf<typeof policyContract.replace>, "rules" | "tests">;

/** Replaces the policy of a network, whole. */
export async function replacePolicy(
  deps: FeatureDeps,
  call: Call,
  { networkId, ...document }: InputOf<typeof policyContract.replace>,
): Outcome<typeof policyContract.replace> {
  return transact(deps.database.db, async (tx) => {
    const network = await lockNetwork(tx, networkId);
    if (!network) return err({ code: "not_found", what: "network" });
    return put({ deps, call, tx }, network, { document, action: "policy.replace" });
  });
}

/** Puts a kept version in force again. */
export async function restorePolicy(
  deps: FeatureDeps,
  call: Call,
  { networkId, version }: InputOf<typeof policyContract.restore>,
): Outcome<typeof policyContract.restore> {
  return transact(deps.database.db, async (tx) => {
    const network = await lockNetwork(tx, networkId);
    if (!network) return err({ code: "not_found", what: "network" });
    const kept = await findPolicyVersion(tx, network.id, version);
    if (!kept)
      return err({ code: "not_found", what: `version of this policy: the newest ${POLICY_VERSIONS_MAX} are kept` });
    const { rules, tests } = KeptSchema.parse(kept.document);
    const document = {
      rules: rules.map(({ networkId: _n, kind: _k, number: _nr, place: _p, createdAt: _c, ...said }) => said),
      tests,
    };
    return put({ deps, call, tx }, network, { document, action: "policy.restore" });
  });
}

async function put(
  { deps, call, tx }: { readonly deps: FeatureDeps; readonly call: Call; readonly tx: Executor },
  network: Network,
  { document, action }: { readonly document: Document; readonly action: string },
): Promise<Result<ReturnType<typeof policyView>, Failure>> {
  const at = new Date(deps.clock.nowMs());
  const before = await readPolicy(tx, network.id);
  const seen = policyView(network.id, before);
  const fits = checkVersion(call, tagOf("policy", seen));
  if (!fits.ok) return fits;
  const fault = await documentFault(tx, network, document);
  if (fault) return err(fault);
  const context = { networkId: network.id, known: before.rules, now: at, random: deps.random };
  const after = policyFrom(document, context);
  const saved = await savePolicy(tx, call, {
    networkId: network.id,
    before,
    after,
    checks: "wanted",
    note: {
      action,
      objectId: network.id,
      networkId: network.id,
      before: { version: before.version, rules: seen.rules, tests: seen.tests },
      after: { version: before.version + 1, ...policyViewOf(network, after) },
    },
    at,
  });
  return saved.ok ? ok(policyView(network.id, saved.value)) : saved;
}

function policyViewOf(network: Network, after: ReturnType<typeof policyFrom>) {
  const { rules, tests } = policyView(network.id, { ...after, version: 0, author: null, at: null });
  return { rules, tests };
}

/** A rule must not stand twice in a document, nor in another network. */
async function documentFault(tx: Executor, network: Network, document: Document): Promise<Failure | undefined> {
  const repeated = repeatedRule(document);
  if (repeated) {
    return { code: "rule_fault", field: `rules/${repeated.place}/id`, reason: `${repeated.id} stands here twice` };
  }
  for (const [place, { id }] of document.rules.entries()) {
    const owner = id === undefined ? undefined : await findRule(tx, id);
    if (owner && owner.networkId !== network.id) {
      return { code: "rule_fault", field: `rules/${place}/id`, reason: "this rule belongs to another network" };
    }
  }
  return undefined;
}

/** What a kept version holds. */
const KeptSchema = z.object({ rules: z.array(RuleSchema), tests: z.array(PolicyTestSchema) });
