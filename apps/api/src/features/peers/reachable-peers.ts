import { err, ok } from "@weft/protocol";
import { readNetwork } from "../../db/changes-repository.ts";
import { findPeer } from "../../db/peers-repository.ts";
import { compilePolicy, openingRules } from "../../domain/access-policy.ts";
import { takesPart } from "../../domain/peer-state.ts";
import type { Call } from "../../registry/call.ts";
import type { FeatureDeps } from "../../registry/feature-deps.ts";
import type { InputOf, Outcome } from "../../registry/handler.ts";
import { nextCursor, pageRequest } from "../../registry/pages.ts";
import { ruleView } from "../../registry/rule-view.ts";
import { readPolicy } from "../../registry/save-policy.ts";
import type { peersContract } from "./contract.ts";

/** Lists whom a peer may reach, by name, and why. */
export async function reachablePeers(
  deps: FeatureDeps,
  _call: Call,
  input: InputOf<typeof peersContract.reachable>,
): Outcome<typeof peersContract.reachable> {
  const { db } = deps.database;
  const list = { name: `reachable?peer=${input.peerId}`, sort: "name" } as const;
  const request = pageRequest(deps, list.name, { ...input, sort: list.sort });
  if (!request.ok) return request;
  const from = await findPeer(db, input.peerId);
  const contents = from && (await readNetwork(db, from.networkId));
  if (!contents) return err({ code: "not_found", what: "peer" });
  const { rules } = await readPolicy(db, from.networkId);
  const views = new Map(rules.map((rule) => [rule.id, ruleView(rule)]));
  const policy = compilePolicy(rules);
  const own = policy.classOf(from);
  const now = new Date(deps.clock.nowMs());
  const all = contents.peers
    .filter((peer) => peer.id !== from.id && takesPart(peer, now) && takesPart(from, now))
    .flatMap((peer) => {
      const opening = openingRules(policy, own, policy.classOf(peer)).flatMap(({ id }) => views.get(id) ?? []);
      return opening.length > 0 ? [{ peerId: peer.id, name: peer.name, rules: opening }] : [];
    })
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const after = request.value.after?.value;
  const behind = after === undefined ? all : all.filter(({ name }) => name > after);
  const items = behind.slice(0, input.limit);
  const last = behind.length > items.length ? items.at(-1) : undefined;
  const next = last ? { value: last.name, id: last.peerId } : null;
  return ok({ items, nextCursor: nextCursor(deps, list, next), ...(input.count && { total: all.length }) });
}
