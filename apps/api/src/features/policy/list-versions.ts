import { err, ok } from "@weft/protocol";
import { z } from "zod";
import { findNetwork } from "../../db/networks-repository.ts";
import { findPolicyVersion, listPolicyVersions } from "../../db/policy-repository.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList } from "../../registry/pages.ts";
import { POLICY_VERSIONS_MAX } from "../../registry/limits.ts";
import { PolicyTestSchema, RuleSchema } from "../../registry/policy-schemas.ts";
import { policyVersionsSpec } from "./contract.ts";
import type { policyContract } from "./contract.ts";

/** Lists the policies that a network had, newest first. */
export async function listVersions(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof policyContract.versions>,
): Outcome<typeof policyContract.versions> {
  const { db } = deps.database;
  const { networkId } = input;
  if (!(await findNetwork(db, networkId))) return err({ code: "not_found", what: "network" });
  return answerList(deps, {
    spec: policyVersionsSpec,
    scope: networkId,
    input,
    read: (request) => listPolicyVersions(db, networkId, request),
    view: ({ version, author, at, ruleCount }) => ({ version, author, at: at.toISOString(), ruleCount }),
  });
}

/** Shows a policy that a network had. */
export async function showVersion(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof policyContract.version>,
): Outcome<typeof policyContract.version> {
  const kept = await findPolicyVersion(deps.database.db, input.networkId, input.version);
  if (!kept)
    return err({ code: "not_found", what: `version of this policy: the newest ${POLICY_VERSIONS_MAX} are kept` });
  const { networkId, version, author, at } = kept;
  return ok({ networkId, version, author, at: at.toISOString(), ...KeptSchema.parse(kept.document) });
}

/** What a kept version holds. */
const KeptSchema = z.object({ rules: z.array(RuleSchema), tests: z.array(PolicyTestSchema) });
