import type { Endpoint } from "./addresses.ts";

/** What a node reports about itself when it changes. */
export type NodeStatus = {
  readonly interfaceName: string;
  readonly listenPort: number;
  readonly shards: number;
  /** Addresses at which the node believes to be reachable. */
  readonly endpoints: readonly Endpoint[];
  readonly offloads: readonly OffloadState[];
  /** The node's wall clock, for showing skew; nothing depends on it. */
  readonly wallClockMs: number;
  /** How far the node's wall clock is ahead of the server's, as the node measured it; `null` when it has not. */
  readonly clockSkewMs: number | null;
  /** Whether the host forwards into the ranges that the node serves; `null` when it serves none or does not tell. */
  readonly forwarding: "works" | "fails" | null;
  /** Faults that need a person, as sentences. */
  readonly problems: readonly string[];
};

/** From here on people are told that two clocks differ. */
export const CLOCK_SKEW_WARN_MS = 1_000;

/** One kernel feature: used, off, or given up at run time. */
export type OffloadState = {
  readonly name: string;
  readonly state: "on" | "off" | "fallback";
  readonly reason: string | null;
};
