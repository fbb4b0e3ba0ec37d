import { expect, test } from "vitest";
import { NO_SESSIONS, type SessionRecord, withConfirmed, withInstalled, withoutSession } from "./session-slots.ts";

test("an initiator's session is current at once and pushes the older ones back", () => {
  const first = withInstalled(NO_SESSIONS, session(1, "initiator"));
  const second = withInstalled(first.slots, session(2, "initiator"));
  const third = withInstalled(second.slots, session(3, "initiator"));

  expect(third.slots).toMatchObject({ current: { localIndex: 3 }, previous: { localIndex: 2 }, next: null });
  expect(third.dropped).toMatchObject([{ localIndex: 1 }]);
});

test("a session of ours keeps the one the other side may already use and the one it may still use, until the next", () => {
  let slots = withInstalled(NO_SESSIONS, session(1, "initiator")).slots;
  slots = withInstalled(slots, session(2, "responder")).slots;
  const change = withInstalled(slots, session(3, "initiator"));

  expect(change.slots).toMatchObject({
    elder: { localIndex: 1 },
    previous: { localIndex: 2 },
    current: { localIndex: 3 },
    next: null,
  });
  expect(change.dropped).toEqual([]);
  const after = withInstalled(change.slots, session(4, "initiator"));
  expect(after.slots).toMatchObject({ elder: null, previous: { localIndex: 3 }, current: { localIndex: 4 } });
  expect(after.dropped).toMatchObject([{ localIndex: 2 }, { localIndex: 1 }]);
});

test("repeated initiations of the peer never push out the session in use", () => {
  let slots = withInstalled(NO_SESSIONS, session(1, "initiator")).slots;
  for (const index of [2, 3, 4]) slots = withInstalled(slots, session(index, "responder")).slots;

  expect(slots).toMatchObject({ current: { localIndex: 1 }, next: { localIndex: 4 } });
});

test("a waiting session becomes current when it is confirmed, once", () => {
  const { slots } = withInstalled(withInstalled(NO_SESSIONS, session(1, "initiator")).slots, session(2, "responder"));
  const confirmed = withConfirmed(slots, 2);

  expect(confirmed.slots).toMatchObject({ previous: { localIndex: 1 }, current: { localIndex: 2 }, next: null });
  expect(withConfirmed(confirmed.slots, 2)).toEqual({ slots: confirmed.slots, dropped: [] });
});

test("a session that ended leaves its place empty", () => {
  const { slots } = withInstalled(NO_SESSIONS, session(1, "initiator"));

  expect(withoutSession(slots, 1)).toEqual(NO_SESSIONS);
});

function session(localIndex: number, role: SessionRecord["role"]): SessionRecord {
  return { localIndex, role, installedAtMs: 0, profile: null };
}
