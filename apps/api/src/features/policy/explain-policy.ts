import { err, ok } from "@weft/protocol";
import { findPeer } from "../../db/peers-repository.ts";
import { compilePolicy, decidingRule } from "../../domain/access-policy.ts";
import { currentState } from "../../domain/peer-state.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { ruleView } from "../../registry/rule-view.ts";
import { readPolicy } from "../../registry/save-policy.ts";
import type { policyContract } from "./contract.ts";

/** Says which rule decides about a packet. */
export async function explainPolicy(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof policyContract.explain>,
): Outcome<typeof policyContract.explain> {
  const { db } = deps.database;
  const [from, to] = [await findPeer(db, input.fromPeerId), await findPeer(db, input.toPeerId)];
  if (!from || !to || from.networkId !== input.networkId || to.networkId !== input.networkId) {
    return err({ code: "not_found", what: "peer" });
  }
  if (from.id === to.id) return err({ code: "same_peer" });
  const { rules } = await readPolicy(db, from.networkId);
  const policy = compilePolicy(rules);
  const packet = { protocol: input.protocol ?? null, port: input.port ?? null };
  const deciding = decidingRule(policy, policy.classOf(from), { to: policy.classOf(to), packet });
  const rule = rules.find(({ id }) => id === deciding?.id);
  const now = new Date(deps.clock.nowMs());
  // An expiry counts from its moment on, also before it was written down.
  const out = [from, to]
    .map((peer) => ({ name: peer.name, state: currentState(peer, now) }))
    .find(({ state }) => state !== "active");
  const verdict = out ? "deny" : (rule?.action ?? "deny");
  return ok({ verdict, rule: rule ? ruleView(rule) : null, reason: reasonOf({ out, rule }) });
}

function reasonOf({
  out,
  rule,
}: {
  readonly out: { readonly name: string; readonly state: string } | undefined;
  readonly rule: { readonly id: string; readonly action: string } | undefined;
}): string {
  if (out) return `${out.name} is ${out.state} and takes no part`;
  return rule ? `rule ${rule.id} is the first that matches, and says ${rule.action}` : "no rule allows it";
}
