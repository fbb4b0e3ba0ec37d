import type { AgentFrame, ApplyError, NetworkMap } from "@weft/protocol";

import type { Timers } from "../stream/timers.ts";
import type { Log } from "./log.ts";
import type { CheckedMap } from "./map-keeper.ts";
import type { MapSync } from "./map-sync.ts";

export type MapApplierDeps = {
  readonly sync: MapSync;
  readonly timers: Timers;
  readonly log: Log;
  readonly send: (frame: AgentFrame) => void;
  /** Something was applied; `errors` says what could not be. */
  readonly onApplied: (errors: readonly ApplyError[]) => void;
};

/** Applies maps and tells the server and the log how it went. */
export type MapApplier = {
  readonly apply: (checked: CheckedMap) => void;
  /** The map of the last run; nobody waits for an acknowledgement. `null`: there is none. */
  readonly applyStored: (map: NetworkMap | null) => void;
  /** Makes the tunnel anew. */
  readonly rebuild: () => void;
  /** What the last application could not do, as sentences. */
  readonly problems: () => readonly string[];
  readonly stop: () => void;
};

export function createMapApplier(deps: MapApplierDeps): MapApplier {
  const { sync, timers, log, send } = deps;
  let lastErrors: readonly ApplyError[] = [];
  let failures = 0;
  let cancelRetry = (): void => {};
  const done = (errors: readonly ApplyError[]): void => {
    lastErrors = errors;
    for (const error of errors) log.error("apply_failed", { object: error.object, detail: error.detail });
    cancelRetry();
    // A tunnel that could not be made is tried again: what was in the way may go, with or without the server.
    failures = sync.tunnel() ? 0 : failures + 1;
    if (failures > 0) cancelRetry = timers.after(retryDelayMs(failures), () => done(sync.rebuild()));
    deps.onApplied(errors);
  };
  return {
    apply(checked) {
      const startedMs = timers.nowMs();
      logNewKeys(log, sync, checked);
      const errors = checked.kind === "snapshot" ? sync.applyMap(checked.map) : sync.applyChange(checked.delta);
      send({ kind: "applied", ...checked.version, durationMs: Math.round(timers.nowMs() - startedMs), errors });
      done(errors);
    },
    applyStored(map) {
      if (!map) return;
      log.info("map_from_disk", { peers: map.peers.length });
      done(sync.applyMap(map));
    },
    rebuild: () => done(sync.rebuild()),
    problems: () => lastErrors.map((error) => `${error.object}: ${error.detail}`),
    stop: () => cancelRetry(),
  };
}

/** SEC-2: no key joins the mesh without a line in the log. */
function logNewKeys(log: Log, sync: MapSync, checked: CheckedMap): void {
  const peers = checked.kind === "snapshot" ? checked.map.peers : checked.delta.upserts;
  const added = peers.filter((peer) => !sync.peerByKey(peer.publicKey)).map((peer) => `${peer.name} ${peer.publicKey}`);
  for (let first = 0; first < added.length; first += KEYS_PER_LINE) {
    log.audit("peer_keys_added", { count: added.length, keys: added.slice(first, first + KEYS_PER_LINE) });
  }
}

const KEYS_PER_LINE = 100;

/** Soon at first: an interface of the same name may just be going away. */
function retryDelayMs(failures: number): number {
  return Math.min(RETRY_MS_MIN * 2 ** (failures - 1), RETRY_MS_MAX);
}

const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 10_000;
