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
  /** Faults that need a person, as sentences. */
  readonly problems: readonly string[];
};

/** One kernel feature: used, off, or given up at run time. */
export type OffloadState = {
  readonly name: string;
  readonly state: "on" | "off" | "fallback";
  readonly reason: string | null;
};
