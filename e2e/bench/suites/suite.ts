import type { CableKind } from "../../harness/namespaces.ts";
import type { Contender, Tunnel } from "../contenders/contender.ts";
import type { Site } from "../site.ts";

/** One measured value with what was measured beside it. */
export type Sample = {
  readonly value: number;
  readonly extra: Readonly<Record<string, number>>;
  /** Why this sample must not be trusted. */
  readonly problem?: string;
};

export type CaseContext = { readonly site: Site; readonly tunnel: Tunnel; readonly seconds: number };

/** A case of a suite that measures tunnels between two hosts. */
export type TunnelCase = {
  readonly name: string;
  /** Neighbours of the same group are measured side by side in each round, because ratios compare them. */
  readonly group: string;
  readonly unit: string;
  readonly cable: CableKind;
  /** Whether the bare link must be clearly faster than every tunnel for the figure to mean anything. */
  readonly rawLink: "must be faster" | "is not a limit";
  readonly run: (context: CaseContext) => Promise<Sample>;
  /** Measured once after all rounds, because it disturbs the figure itself. */
  readonly afterwards?: (context: CaseContext) => Promise<Readonly<Record<string, number>>>;
};

/** A started contender at its own site. */
export type Entrant = { readonly contender: Contender; readonly site: Site; readonly tunnel: Tunnel };
