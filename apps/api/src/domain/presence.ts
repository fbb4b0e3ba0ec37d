/** Whether a node is there, computed from its streams alone; nothing of it is ever stored as truth. */
type Presence = "online" | "offline" | "unknown";

export type PresenceBook<Id extends string> = {
  readonly opened: (id: Id, nowMs: number) => void;
  /** `how` tells a farewell from a broken line, which gets time to come back unnoticed. */
  readonly closed: (id: Id, how: "bye" | "broken", nowMs: number) => void;
  /** Notes a proof of life on an open stream. */
  readonly heard: (id: Id, nowMs: number) => void;
  readonly stateOf: (id: Id, nowMs: number) => Presence;
  /** Time of the last proof since this server started. */
  readonly lastProofMs: (id: Id) => number | undefined;
  readonly forget: (id: Id) => void;
  /** Nodes whose grace ended since the last call; they are offline from now on. */
  readonly takeExpired: (nowMs: number) => Id[];
};

type Entry = { streams: number; lastProofMs: number; graceUntilMs: number | undefined };

/** Streams are counted, so overlapping ones of a node never leave a wrong state behind. */
export function createPresenceBook<Id extends string>(startedAtMs: number): PresenceBook<Id> {
  const entries = new Map<Id, Entry>();
  const waiting = new Set<Id>();
  const entryOf = (id: Id, nowMs: number): Entry => {
    const entry = entries.get(id) ?? { streams: 0, lastProofMs: nowMs, graceUntilMs: undefined };
    entries.set(id, entry);
    return entry;
  };
  return {
    opened(id, nowMs) {
      const entry = entryOf(id, nowMs);
      entry.streams += 1;
      entry.lastProofMs = nowMs;
      entry.graceUntilMs = undefined;
      waiting.delete(id);
    },
    closed(id, how, nowMs) {
      const entry = entryOf(id, nowMs);
      entry.streams = Math.max(0, entry.streams - 1);
      if (entry.streams > 0) return;
      entry.graceUntilMs = how === "bye" ? nowMs : nowMs + GRACE_MS;
      waiting.add(id);
    },
    heard(id, nowMs) {
      const entry = entries.get(id);
      if (entry) entry.lastProofMs = nowMs;
    },
    stateOf(id, nowMs) {
      const entry = entries.get(id);
      if (entry && (entry.streams > 0 || (entry.graceUntilMs !== undefined && nowMs < entry.graceUntilMs))) {
        return "online";
      }
      // Right after a start nobody had the time to come back yet.
      return entry || nowMs - startedAtMs >= SETTLE_MS ? "offline" : "unknown";
    },
    lastProofMs: (id) => entries.get(id)?.lastProofMs,
    forget(id) {
      entries.delete(id);
      waiting.delete(id);
    },
    takeExpired(nowMs) {
      const expired = [...waiting].filter((id) => (entries.get(id)?.graceUntilMs ?? 0) <= nowMs);
      for (const id of expired) waiting.delete(id);
      return expired;
    },
  };
}

/** A stream that breaks and is back within this time was never gone. */
export const GRACE_MS = 10_000;
/** After a start the server claims nothing about silent nodes for one heartbeat. */
export const SETTLE_MS = 15_000;
