import { toAddressSet } from "@weft/protocol";
import type { AddressSet, FilterRule } from "@weft/protocol";
import { namesSide, packetRule } from "./access-policy.ts";
import type { AccessPolicy, Sides } from "./access-policy.ts";
import { addressesOf as addressesIn } from "./address-book.ts";
import type { Peer } from "./peer.ts";

/**
 * Packet rules of a gateway about the static clients behind it: what a client sends and gets passes the gateway exactly when
 * the network's rules allow it between the two ends, whatever the gateway itself may do. They stand before the gateway's own.
 */
export function transitRules(
  policy: AccessPolicy,
  clients: readonly Peer[],
  sides: () => Sides,
): readonly FilterRule[] {
  if (clients.length === 0) return [];
  const { from, to } = sides();
  const rules = policy.rules.flatMap(({ rule, source, destination }) => {
    const ways =
      rule.direction === "both-ways"
        ? [[source, destination] as const, [destination, source] as const]
        : [[source, destination] as const];
    return ways.flatMap(([begins, answers]) => {
      const [senders, receivers] = [begins, answers].map((side) =>
        addressesOf(clients.filter((client) => namesSide(side, policy.classOf(client)))),
      );
      return [
        ...(senders?.length ? [packetRule(rule, { direction: "both", source: senders, ...to(answers) })] : []),
        ...(receivers?.length
          ? [packetRule(rule, { direction: "both", ...from(begins), destination: receivers })]
          : []),
      ];
    });
  });
  const all = addressesOf(clients);
  return [...rules, denied({ source: all, destination: null }), denied({ source: null, destination: all })];
}

function addressesOf(clients: readonly Peer[]): AddressSet {
  return toAddressSet(clients.flatMap(addressesIn));
}

function denied(ends: Pick<FilterRule, "source" | "destination">): FilterRule {
  return { id: NO_RULE, action: "deny", direction: "both", protocol: null, ports: null, ...ends };
}

/** What no rule of the network allows is counted under no rule. */
const NO_RULE = 0;
