import { err } from "@weft/protocol";
import { readNetwork } from "../../db/changes-repository.ts";
import { findPeer } from "../../db/peers-repository.ts";
import { compilePolicy, openingRules } from "../../domain/access-policy.ts";
import type { Peer } from "../../domain/peer.ts";
import { takesPart } from "../../domain/peer-state.ts";
import type { PolicyRule } from "../../domain/policy-rule.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { answerList, pageOfComputed } from "../../registry/pages.ts";
import { ruleView } from "../../registry/rule-view.ts";
import { readPolicy } from "../../registry/save-policy.ts";
import { reachableSpec } from "./contract.ts";
import type { peersContract } from "./contract.ts";

/** Lists whom a peer may reach, by name unless the caller wants another order, and why. */
export async function reachablePeers(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof peersContract.reachable>,
): Outcome<typeof peersContract.reachable> {
  const { db } = deps.database;
  const from = await findPeer(db, input.peerId);
  const contents = from && (await readNetwork(db, from.networkId));
  if (!contents) return err({ code: "not_found", what: "peer" });
  const { rules } = await readPolicy(db, from.networkId);
  const views = new Map(rules.map((rule) => [rule.id, ruleView(rule)]));
  const policy = compilePolicy(rules);
  const own = policy.classOf(from);
  const now = new Date(deps.clock.nowMs());
  // Peers that the rules treat alike are asked about once.
  const known = new Map<number, readonly PolicyRule[]>();
  const openingOf = (peer: Peer) => {
    const other = policy.classOf(peer);
    const opening = known.get(other.number) ?? openingRules(policy, own, other);
    known.set(other.number, opening);
    return opening;
  };
  const all = contents.peers.filter(
    (peer) => peer.id !== from.id && takesPart(peer, now) && takesPart(from, now) && openingOf(peer).length > 0,
  );
  return answerList(deps, {
    spec: reachableSpec,
    scope: from.id,
    input,
    read: async (request) => pageOfComputed(all, request, COLUMNS),
    view: (peer) => ({
      peerId: peer.id,
      name: peer.name,
      rules: openingOf(peer).flatMap(({ id }) => views.get(id) ?? []),
    }),
  });
}

const COLUMNS = {
  fields: { name: ({ name }: Peer) => name },
  id: ({ id }: Peer) => id,
  text: ({ name }: Peer) => name,
};
