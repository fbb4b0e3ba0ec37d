import { LANES_OFFERED_MAX } from "@weft/protocol";

/** How many lanes are wished for: as many as help, none beside the first, or so many at most. */
export type LaneWish = "auto" | "off" | number;

/** How many lanes a machine offers to other agents, and why. */
export type LaneChoice = {
  /** 1 = only the port that every peer has. */
  readonly offered: number;
  /** A sentence for the status. */
  readonly reason: string;
};

/**
 * With fewer than four workers one port is enough: what arrives by it keeps one of them busy, and the others have their
 * own work. Eight ports reach 3.6 of four workers on average, four would reach 2.7.
 */
export function chooseLanes(wish: LaneWish, workers: number): LaneChoice {
  if (wish === "off" || wish === 1) return { offered: 1, reason: "WEFT_LANES switches them off" };
  if (workers < WORKERS_MIN) return { offered: 1, reason: `${workers} workers; lanes help from ${WORKERS_MIN} on` };
  if (wish !== "auto") return { offered: Math.min(wish, LANES_OFFERED_MAX), reason: `WEFT_LANES asks for ${wish}` };
  const fitting = 1 + Math.floor(SOCKETS_MAX / (workers * FAMILIES));
  return { offered: Math.min(LANES_OFFERED_MAX, Math.max(2, fitting)), reason: `${workers} workers` };
}

const WORKERS_MIN = 4;
const FAMILIES = 2;
/** Of all lanes together; each has one per worker and address family. */
const SOCKETS_MAX = 256;
