import {
  enrolmentKeyIds,
  groupIds,
  nameRecordIds,
  nameserverGroupIds,
  networkIds,
  parseEndpoint,
  parseIdentityKey,
  parseIpv4,
  parseIpv6,
  parsePrefix,
  parsePublicKey,
  peerIds,
  routeApproverIds,
  routeIds,
  ruleIds,
} from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { Network, Peer } from "../domain/peer.ts";
import { ALL } from "../domain/policy-rule.ts";
import type { PolicyRule, Selector } from "../domain/policy-rule.ts";
import type { networks, peers, rules } from "./schema/index.ts";

/** Turns a row into a peer. */
export function peerFromRow(row: typeof peers.$inferSelect): Peer {
  return {
    ...row,
    id: stored(peerIds.parse(row.id)),
    networkId: stored(networkIds.parse(row.networkId)),
    identityKey: row.identityKey === null ? null : stored(parseIdentityKey(row.identityKey)),
    gatewayPeerId: row.gatewayPeerId === null ? null : storedPeerId(row.gatewayPeerId),
    publicKey: stored(parsePublicKey(row.publicKey)),
    ipv4: row.ipv4 === null ? null : stored(parseIpv4(row.ipv4)),
    ipv6: row.ipv6 === null ? null : stored(parseIpv6(row.ipv6)),
    groupIds: row.groupIds.map(storedGroupId),
    routes: row.routes.map(storedPrefix),
    endpoints: row.endpoints.flatMap(({ address, source }) => {
      const endpoint = parseEndpoint(address);
      return endpoint.ok ? [{ address: endpoint.value, source }] : [];
    }),
  };
}

/** Turns a row into a network. */
export function networkFromRow(row: typeof networks.$inferSelect): Network {
  return {
    id: stored(networkIds.parse(row.id)),
    name: row.name,
    ipv4Range: row.ipv4Range === null ? null : stored(parsePrefix(row.ipv4Range)),
    ipv6Range: row.ipv6Range === null ? null : stored(parsePrefix(row.ipv6Range)),
    epoch: row.epoch,
    sequence: row.sequence,
    profileFallback: row.profileFallback,
    approval: row.approval,
    membershipSeconds: row.membershipSeconds,
    idleRemovalSeconds: row.idleRemovalSeconds,
    conceal: row.conceal,
    flowSampling: row.flowSampling,
    flowKeepHours: row.flowKeepHours,
    createdAt: row.createdAt,
  };
}

/** Turns a row into a rule as nodes know it. */
export function policyRuleFromRow(row: typeof rules.$inferSelect): PolicyRule {
  const { action, state, direction, protocol, ports, icmpType, icmpCode } = row;
  return {
    id: storedRuleId(row.id),
    action,
    state,
    source: storedSelector(row.source),
    destination: storedSelector(row.destination),
    direction,
    protocol,
    ports,
    icmpType,
    icmpCode,
  };
}

function storedSelector(text: string): Selector {
  if (text === "all") return ALL;
  return groupIds.is(text) ? { kind: "group", id: text } : { kind: "peer", id: storedPeerId(text) };
}

export const storedNetworkId = (id: string) => stored(networkIds.parse(id));
export const storedPeerId = (id: string) => stored(peerIds.parse(id));
export const storedRuleId = (id: string) => stored(ruleIds.parse(id));
export const storedGroupId = (id: string) => stored(groupIds.parse(id));
export const storedRouteApproverId = (id: string) => stored(routeApproverIds.parse(id));
export const storedRouteId = (id: string) => stored(routeIds.parse(id));
export const storedRecordId = (id: string) => stored(nameRecordIds.parse(id));
export const storedNameserversId = (id: string) => stored(nameserverGroupIds.parse(id));
export const storedEndpoint = (text: string) => stored(parseEndpoint(text));
export const storedPrefix = (text: string) => stored(parsePrefix(text));
export const storedKeyId = (id: string) => stored(enrolmentKeyIds.parse(id));

/** Only checked values are ever written, so what comes back must pass the same check. */
function stored<T>(result: Result<T, unknown>): T {
  if (result.ok) return result.value;
  throw new Error(`the database holds a value that was never written: ${JSON.stringify(result.error)}`);
}
