import type { LaneChoice, TunnelStatus } from "@weft/dataplane";
import type { OffloadState } from "@weft/protocol";

/** What a node says whose surroundings say nothing about lanes. */
export const NO_LANES: LaneChoice = { offered: 1, reason: "not offered" };

/** Whether several UDP source ports are offered to other agents, told like an offload of the kernel. */
export function laneState({ offered, reason }: LaneChoice, tunnel: TunnelStatus["lanes"] | null): OffloadState {
  if (offered === 1) return { name: "lanes", state: "off", reason };
  if (tunnel?.problem) return { name: "lanes", state: "fallback", reason: tunnel.problem };
  return { name: "lanes", state: "on", reason: `${offered} offered: ${reason}` };
}

/** How the lanes to one peer stand. */
export type LanesOfPeer = {
  /** What the session agreed on; 1 = only the port that every peer has. */
  readonly agreed: number;
  /** What data goes by at present. */
  readonly inUse: number;
};

/** Why data to a peer does not go by all lanes, in a sentence; `null` when it does, and without a session. */
export function laneNote(
  { agreed, inUse }: LanesOfPeer,
  own: { readonly choice: LaneChoice; readonly sockets: number; readonly session: "none" | "handshaking" | "up" },
): string | null {
  if (own.session !== "up") return null;
  if (agreed === 1) return own.choice.offered === 1 ? own.choice.reason : "the peer offers none";
  if (inUse >= agreed) return null;
  if (own.sockets < agreed && inUse >= own.sockets) return `this host sends by ${own.sockets} of ${agreed} ports`;
  return `${agreed - inUse} of ${agreed} ports do not reach the peer; their packets go by the first`;
}
