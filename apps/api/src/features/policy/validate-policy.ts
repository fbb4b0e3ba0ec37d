import { setImmediate } from "node:timers/promises";
import { err, ok } from "@weft/protocol";
import { readNetwork } from "../../db/changes-repository.ts";
import { findNetwork } from "../../db/networks-repository.ts";
import { policyDifference } from "../../domain/policy-difference.ts";
import type { Pairs } from "../../domain/policy-difference.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { findFault, runTests } from "../../registry/save-policy.ts";
import type { policyContract } from "./contract.ts";
import { policyFrom, repeatedRule } from "./policy-document.ts";

/** Says what a policy would do; nothing is written. */
export async function validatePolicy(
  deps: FeatureDeps,
  _call: Call,
  { networkId, ...document }: InputOf<typeof policyContract.validate>,
): Outcome<typeof policyContract.validate> {
  const { db } = deps.database;
  const found = await findNetwork(db, networkId);
  const contents = found && (await readNetwork(db, found.id));
  if (!contents) return err({ code: "not_found", what: "network" });
  const now = new Date(deps.clock.nowMs());
  const policy = policyFrom(document, { networkId: contents.network.id, known: [], now, random: deps.random });
  const repeated = repeatedRule(document);
  const fault = repeated
    ? { field: `rules/${repeated.place}/id`, reason: `${repeated.id} stands here twice` }
    : await findFault(db, contents.network.id, policy);
  const none = { total: 0, pairs: [] };
  if (fault) {
    const { field, reason } = fault;
    return ok({
      verdict: "faulty",
      fault: { field, reason },
      tests: [],
      affectedPeerIds: [],
      gained: none,
      lost: none,
    });
  }
  const tests = await runTests(db, contents.network.id, policy);
  const difference = await policyDifference(contents.rules, policy.rules, {
    members: contents.peers,
    pause: setImmediate,
  });
  if (!difference.ok) {
    const what = "the number of times that a rule must be held against two sets of peers";
    return err({ code: "work_bound", what, ...difference.error });
  }
  const { affected, gained, lost } = difference.value;
  return ok({
    verdict: tests.some(({ outcome }) => outcome === "failed") ? "tests-fail" : "fits",
    fault: null,
    tests: [...tests],
    affectedPeerIds: [...affected],
    gained: pairsView(gained),
    lost: pairsView(lost),
  });
}

function pairsView({ total, first }: Pairs) {
  return { total, pairs: first.map(({ from, to }) => ({ fromPeerId: from, toPeerId: to })) };
}
