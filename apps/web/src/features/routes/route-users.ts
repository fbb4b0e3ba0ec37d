import type { Peer, Rule } from "../../api/types.ts";

/** Rules that let somebody begin to send to a peer, and so into the ranges behind it; in their order. */
export function rulesThatReach(peer: Pick<Peer, "id" | "groupIds">, rules: readonly Rule[]): readonly Rule[] {
  const covers = (side: Rule["source"]): boolean => {
    if (side.kind === "all") return true;
    return side.kind === "peer" ? side.id === peer.id : peer.groupIds.includes(side.id);
  };
  return rules.filter(
    ({ action, state, source, destination, direction }) =>
      action === "allow" && state === "on" && (covers(destination) || (direction === "both-ways" && covers(source))),
  );
}

/** The side of a rule whose peers may begin to send to the peer. */
export function senders(peer: Pick<Peer, "id" | "groupIds">, rule: Rule): Rule["source"] {
  const [only] = rulesThatReach(peer, [{ ...rule, direction: "one-way" }]);
  return only ? rule.source : rule.destination;
}
