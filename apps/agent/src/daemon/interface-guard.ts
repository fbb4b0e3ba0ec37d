import type { HostInterface } from "@weft/dataplane";

import type { Timers } from "../stream/timers.ts";

/** How the tunnel's interface should look. */
export type WantedInterface = { readonly name: string; readonly addresses: readonly string[] };

/**
 * Puts addresses and routes back that somebody else took from the tunnel's interface: taking it down and up again makes the
 * kernel forget IPv6 addresses and all routes. An interface that is down stays down: that was somebody's will.
 */
export type InterfaceGuard = {
  /** Compares with what the system shows now. */
  readonly check: (interfaces: readonly HostInterface[]) => void;
  /** The engine could not write: the interface was down, if only for a moment. */
  readonly suspect: () => void;
};

export type InterfaceGuardDeps = {
  readonly timers: Timers;
  /** `null` while there is no tunnel. */
  readonly wanted: () => WantedInterface | null;
  readonly restore: () => void;
};

export function createInterfaceGuard(deps: InterfaceGuardDeps): InterfaceGuard {
  let seen: "fine" | "was_down" = "fine";
  let notBeforeMs = 0;
  return {
    check(interfaces) {
      const wanted = deps.wanted();
      const link = interfaces.find((candidate) => candidate.name === wanted?.name);
      if (!wanted || !link) return;
      if (!link.up) {
        seen = "was_down";
        return;
      }
      const present = new Set(link.addresses.map((cidr) => cidr.split("/")[0]));
      const complete = wanted.addresses.every((address) => present.has(address));
      if ((complete && seen === "fine") || deps.timers.nowMs() < notBeforeMs) return;
      seen = "fine";
      // If it does not help, the next try is not at once.
      notBeforeMs = deps.timers.nowMs() + PAUSE_MS;
      deps.restore();
    },
    suspect() {
      seen = "was_down";
    },
  };
}

const PAUSE_MS = 5_000;
