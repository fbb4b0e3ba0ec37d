import type { MapDelta, MapVersion, NeedMapReason, NetworkMap, ServerFrame, ServerKey } from "@weft/protocol";

import { verifyServerSignature } from "../state/identity.ts";
import { removeFile } from "../state/files.ts";
import { loadMapFile, saveMapFile } from "../state/map-file.ts";
import type { Timers } from "../stream/timers.ts";
import { inflateMap } from "./inflate.ts";
import type { Log } from "./log.ts";
import { createMapReceiver, type MapReceiver } from "./map-receiver.ts";

/** A whole map or a change, checked and not yet applied. */
export type CheckedMap =
  | { readonly kind: "snapshot"; readonly map: NetworkMap; readonly version: MapVersion }
  | { readonly kind: "delta"; readonly delta: MapDelta; readonly version: MapVersion };

export type MapKeeperDeps = {
  readonly path: string;
  readonly serverKey: ServerKey;
  readonly timers: Timers;
  readonly log: Log;
  /** Asks the server for the whole map. */
  readonly needMap: (reason: NeedMapReason) => void;
  readonly apply: (checked: CheckedMap) => void;
  /** Puts on disk what must be there before the map is. */
  readonly saveFirst: () => void;
};

/** Follows the map stream and keeps its signed frames on disk. */
export type MapKeeper = {
  /** The map of the last run; `null` when there is none that can be used. */
  readonly load: () => NetworkMap | null;
  readonly handle: (frame: ServerFrame, raw: Uint8Array) => void;
  readonly version: () => MapVersion | null;
  /** From now on the map on disk may be all there is: what is not there yet is written. */
  readonly streamEnded: () => void;
  /** Drops the map, also from disk: the node may not use it any more. */
  readonly forget: () => void;
  /** Writes at once what is not on disk yet. */
  readonly flush: () => void;
};

export function createMapKeeper(deps: MapKeeperDeps): MapKeeper {
  const { log, timers, path } = deps;
  let receiver = newReceiver(deps.serverKey);
  let stored: "on_disk" | "pending" = "on_disk";
  /** Set while a change was written so lately that the next one waits. */
  let cooling: (() => void) | null = null;

  const save = (): void => {
    cooling?.();
    cooling = timers.after(SAVE_PAUSE_MS, () => {
      cooling = null;
      if (stored === "pending") save();
    });
    deps.saveFirst();
    const saved = saveMapFile(path, receiver.signedFrames());
    if (saved.ok) stored = "on_disk";
    else log.error("map_not_saved", { message: saved.error.message });
  };
  /** A change after a quiet time is written at once; those that follow it closely are written together. */
  const saveSoon = (): void => {
    stored = "pending";
    if (cooling === null) save();
  };
  const flush = (): void => {
    if (stored === "pending") save();
    else deps.saveFirst();
  };
  return {
    load() {
      const loaded = loadMapFile(path, receiver);
      if (loaded.ok) return loaded.value;
      receiver = newReceiver(deps.serverKey);
      if (loaded.error.code !== "missing") log.error("map_not_loaded", { message: loaded.error.message });
      return null;
    },
    handle(frame, raw) {
      const outcome = receiver.handle(frame, raw);
      if (outcome.kind === "wait") return;
      if (outcome.kind === "need") {
        log.warn("map_needed", { reason: outcome.reason, detail: outcome.detail });
        return deps.needMap(outcome.reason);
      }
      deps.apply(outcome);
      if (outcome.kind === "snapshot") save();
      else saveSoon();
      if (receiver.wantsCompaction()) deps.needMap("compact");
    },
    version: () => receiver.version(),
    streamEnded() {
      receiver.streamEnded();
      flush();
    },
    forget() {
      receiver = newReceiver(deps.serverKey);
      stored = "on_disk";
      const removed = removeFile(path);
      if (!removed.ok) log.error("map_not_removed", { message: removed.error.message });
    },
    flush,
  };
}

function newReceiver(serverKey: ServerKey): MapReceiver {
  return createMapReceiver({ serverKey, verify: verifyServerSignature, inflate: inflateMap });
}

const SAVE_PAUSE_MS = 500;
