import type { z } from "zod";
import { forbiddenCapability, keyFingerprint, WORK_KINDS } from "@weft/protocol";
import type { NetworkWithCount } from "../db/networks-repository.ts";
import type { Network, Peer } from "../domain/peer.ts";
import { removalTime } from "../domain/peer-state.ts";
import type { LivePeer, LiveState } from "./live-state.ts";
import type { NetworkSchema } from "./network-schemas.ts";
import type { PeerView } from "./peer-schemas.ts";

/** A peer as callers see it: the row and what memory knows on top. */
export function peerView(
  peer: Peer,
  live: LivePeer | undefined,
  network: Pick<Network, "idleRemovalSeconds">,
): PeerView {
  const lastSeenAt = live?.lastSeenAt ?? peer.lastSeenAt;
  const presence = isShutOut(peer) ? "offline" : (live?.presence ?? "unknown");
  const removalAt = presence === "online" ? null : removalTime({ ...peer, lastSeenAt }, network);
  return {
    id: peer.id,
    networkId: peer.networkId,
    name: peer.name,
    publicKey: peer.publicKey,
    kind: peer.kind,
    gatewayPeerId: peer.gatewayPeerId,
    fingerprint: keyFingerprint(peer.identityKey ?? peer.publicKey),
    ipv4: peer.ipv4,
    ipv6: peer.ipv6,
    state: peer.state,
    expiresAt: peer.expiresAt?.toISOString() ?? null,
    groupIds: [...peer.groupIds],
    ephemeralSeconds: peer.ephemeralSeconds,
    removalAt: removalAt?.toISOString() ?? null,
    presence,
    lastSeenAt: lastSeenAt?.toISOString() ?? null,
    endpoint: peer.endpoints.at(0)?.address ?? null,
    endpoints: [...peer.endpoints],
    os: peer.os,
    arch: peer.arch,
    agentVersion: peer.agentVersion,
    createdAt: peer.createdAt.toISOString(),
    map: {
      state: live?.map.state ?? "none",
      sequence: Number(live?.map.sequence ?? 0n),
      appliedAfterMs: live?.map.appliedAfterMs ?? null,
    },
    exit: peer.exitChoice,
    problems: [...(live?.problems ?? [])],
    clockSkewMs: live?.clockSkewMs ?? null,
    forbiddenJobs: WORK_KINDS.filter((kind) => peer.capabilities.includes(forbiddenCapability(kind))),
    rxBytes: String(live?.rxBytes ?? peer.rxBytes),
    txBytes: String(live?.txBytes ?? peer.txBytes),
  };
}

/** Its stream is being closed, and nothing of it counts any more. */
function isShutOut({ state }: Peer): boolean {
  return state !== "active" && state !== "pending";
}

/** A network as callers see it. */
export function networkView(network: NetworkWithCount, live: LiveState): z.output<typeof NetworkSchema> {
  return {
    id: network.id,
    name: network.name,
    ipv4Range: network.ipv4Range,
    ipv6Range: network.ipv6Range,
    peerCount: network.peerCount,
    onlineCount: live.onlineCount(network.id),
    profileFallback: network.profileFallback,
    approval: network.approval,
    membershipSeconds: network.membershipSeconds,
    idleRemovalSeconds: network.idleRemovalSeconds,
    flowSampling: network.flowSampling,
    flowKeepHours: network.flowKeepHours,
    createdAt: network.createdAt.toISOString(),
  };
}
