import type { Peer } from "./types.ts";
import type { StatusKind } from "../ui/status.tsx";

/** The shape of a presence. */
export const PRESENCE_KINDS: Record<Peer["presence"], StatusKind> = { online: "good", offline: "bad", unknown: "idle" };

/** Online first, then unknown, then offline; for sorting. */
export const PRESENCE_ORDER: Record<Peer["presence"], number> = { online: 0, unknown: 1, offline: 2 };
