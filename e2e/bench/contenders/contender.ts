import type { Site } from "../site.ts";

/** The overlay addresses of the two ends of one family. */
export type Ends = { readonly a: string; readonly b: string };

/** A tunnel that is up between A and B of its site, or the bare link. */
export type Tunnel = {
  readonly interfaces: Ends;
  readonly v4: Ends;
  readonly v6: Ends;
  /** What its sessions carry, where that is negotiated. */
  readonly profile?: string;
  /** Process ids of the daemon on A and on B; empty for the bare link. */
  readonly daemonPids: readonly number[];
  /** Time that the workers of both ends spent in each stage so far; absent where nobody says. */
  readonly stageNanoseconds?: () => Promise<Readonly<Record<string, number>>>;
  /** Why it can no longer be trusted, such as a daemon that died; `undefined` while all is well. */
  readonly whyBroken: () => string | undefined;
  /** Ends its daemons in good order. */
  readonly stop: () => Promise<void>;
};

export type Started = { readonly ok: true; readonly tunnel: Tunnel } | { readonly ok: false; readonly reason: string };

/** Something to measure. Starting gives a reason when a program that it needs is not on this machine. */
export type Contender = { readonly name: string; readonly start: (site: Site) => Promise<Started> };
