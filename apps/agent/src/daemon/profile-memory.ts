import { isSameProfile, type LinkProfile, type MapPeer, type PublicKey } from "@weft/protocol";

import { removeFile } from "../state/files.ts";
import { loadProfileFile, saveProfileFile, type ProfileChange } from "../state/profile-file.ts";
import type { Timers } from "../stream/timers.ts";
import type { Log } from "./log.ts";

/**
 * Which profile the map wanted with a peer before the present one, until a session under the present one was seen working.
 * It outlives engine and process: the other end may not have its new map, and may not get it while the server is away.
 */
export type ProfileMemory = {
  /** A map, or a change of one, names these peers; `known` gives what the map before said, null when it did not name one. */
  readonly note: (peers: readonly MapPeer[], known: (key: PublicKey) => MapPeer | null) => void;
  /** A session under that profile works. */
  readonly settle: (key: PublicKey, profile: LinkProfile | null) => void;
  /** The map names these peers no more. */
  readonly drop: (keys: Iterable<PublicKey>) => void;
  /** The map names no other peers than these. */
  readonly keepOnly: (known: (key: PublicKey) => MapPeer | null) => void;
  readonly before: (key: PublicKey) => LinkProfile | "plain" | undefined;
};

/** A memory on disk. */
export type StoredProfileMemory = ProfileMemory & {
  /** Takes over what the last run stored. */
  readonly load: () => void;
  /** Writes at once what is not on disk yet. */
  readonly flush: () => void;
  /** Forgets everything, also on disk. */
  readonly forget: () => void;
};

/** `onChange` is told of every change. */
export function createProfileMemory(
  changes = new Map<PublicKey, ProfileChange>(),
  onChange: () => void = () => {},
): ProfileMemory {
  const forget = (key: PublicKey): void => {
    if (changes.delete(key)) onChange();
  };
  const noteOne = (next: MapPeer, known: MapPeer | null): void => {
    const key = next.publicKey;
    const wanted = next.profile ?? null;
    if (known) {
      const before = known.profile ?? null;
      if (isSameProfile(before, wanted)) return;
      changes.set(key, { wanted, before });
      onChange();
      return;
    }
    // The first map of this run: what was stored counts if it was stored about this very profile.
    const stored = changes.get(key);
    if (stored && !isSameProfile(stored.wanted, wanted)) forget(key);
  };
  return {
    note(peers, known) {
      for (const peer of peers) noteOne(peer, known(peer.publicKey));
    },
    settle(key, profile) {
      const change = changes.get(key);
      if (change && isSameProfile(change.wanted, profile)) forget(key);
    },
    drop(keys) {
      for (const key of keys) forget(key);
    },
    keepOnly(known) {
      for (const key of changes.keys()) if (!known(key)) forget(key);
    },
    before(key) {
      const change = changes.get(key);
      return change && (change.before ?? "plain");
    },
  };
}

export type StoredProfileMemoryDeps = { readonly path: string; readonly timers: Timers; readonly log: Log };

export function createStoredProfileMemory({ path, timers, log }: StoredProfileMemoryDeps): StoredProfileMemory {
  const changes = new Map<PublicKey, ProfileChange>();
  /** Set while something is not on disk; calls off the write that is planned. */
  let planned: (() => void) | null = null;
  const flush = (): void => {
    if (planned === null) return;
    planned();
    planned = null;
    const saved = changes.size === 0 ? removeFile(path) : saveProfileFile(path, changes);
    if (!saved.ok) log.error("profiles_not_saved", { message: saved.error.message });
  };
  const memory = createProfileMemory(changes, () => {
    planned ??= timers.after(SAVE_PAUSE_MS, flush);
  });
  return {
    ...memory,
    load() {
      const loaded = loadProfileFile(path);
      if (!loaded.ok) log.error("profiles_not_loaded", { message: loaded.error.message });
      else for (const [key, change] of loaded.value) changes.set(key, change);
    },
    flush,
    forget() {
      planned?.();
      planned = null;
      changes.clear();
      const removed = removeFile(path);
      if (!removed.ok) log.error("profiles_not_removed", { message: removed.error.message });
    },
  };
}

/** Forgetting may come late: until then one profile too many is accepted. What must not be lost is flushed before the map. */
const SAVE_PAUSE_MS = 1_000;
