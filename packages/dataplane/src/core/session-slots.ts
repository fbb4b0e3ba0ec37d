import type { LinkProfile } from "@weft/protocol";

/** One session the engine holds. */
export type SessionRecord = {
  readonly localIndex: number;
  readonly role: "initiator" | "responder";
  readonly installedAtMs: number;
  /** What it was agreed under; null = plain WireGuard. */
  readonly profile: LinkProfile | null;
};

/**
 * The engine's places for a peer's sessions, mirrored: the one that is sent under, the one before it, and one we answered
 * for that nothing has arrived under yet. When two handshakes cross, the session in use before is the elder: the other side
 * sends under it until our answer has arrived there.
 */
export type SessionSlots = {
  readonly elder: SessionRecord | null;
  readonly previous: SessionRecord | null;
  readonly current: SessionRecord | null;
  readonly next: SessionRecord | null;
};

/** `dropped` lists the sessions that lost their place. */
export type SlotsChange = { readonly slots: SessionSlots; readonly dropped: readonly SessionRecord[] };

export const NO_SESSIONS: SessionSlots = { elder: null, previous: null, current: null, next: null };

export function withInstalled(slots: SessionSlots, session: SessionRecord): SlotsChange {
  switch (session.role) {
    case "initiator": {
      const dropped = present([slots.previous, slots.elder]);
      // The other side may already send under the one that waits, and still under the present one.
      return slots.next
        ? { slots: { elder: slots.current, previous: slots.next, current: session, next: null }, dropped }
        : { slots: { elder: null, previous: slots.current, current: session, next: null }, dropped };
    }
    case "responder":
      return { slots: { ...slots, next: session }, dropped: present([slots.next]) };
  }
}

/** A packet arrived under `localIndex`: a waiting session becomes the current one. */
export function withConfirmed(slots: SessionSlots, localIndex: number): SlotsChange {
  if (slots.next?.localIndex !== localIndex) return { slots, dropped: [] };
  return {
    slots: { elder: null, previous: slots.current, current: slots.next, next: null },
    dropped: present([slots.previous, slots.elder]),
  };
}

export function withoutSession(slots: SessionSlots, localIndex: number): SessionSlots {
  const keep = (session: SessionRecord | null): SessionRecord | null =>
    session?.localIndex === localIndex ? null : session;
  return {
    elder: keep(slots.elder),
    previous: keep(slots.previous),
    current: keep(slots.current),
    next: keep(slots.next),
  };
}

export function allSessions(slots: SessionSlots): readonly SessionRecord[] {
  return present([slots.elder, slots.previous, slots.current, slots.next]);
}

function present(sessions: readonly (SessionRecord | null)[]): readonly SessionRecord[] {
  return sessions.filter((session) => session !== null);
}
