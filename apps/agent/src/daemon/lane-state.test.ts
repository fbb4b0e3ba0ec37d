import { expect, test } from "vitest";
import { laneNote, laneState } from "./lane-state.ts";

const OFFERED = { offered: 8, reason: "4 workers" };
const NONE = { offered: 1, reason: "2 workers; lanes help from 4 on" };

test.each([
  { name: "no session", session: "none", agreed: 8, inUse: 1, note: null },
  { name: "all in use", agreed: 8, inUse: 8, note: null },
  { name: "some that do not arrive", agreed: 8, inUse: 5, note: "3 of 8 ports do not reach the peer" },
  { name: "fewer sockets here", agreed: 8, inUse: 3, sockets: 3, note: "this host sends by 3 of 8 ports" },
  { name: "fewer sockets here and a lost lane", agreed: 8, inUse: 2, sockets: 3, note: "6 of 8 ports do not reach" },
  { name: "a peer that offers none", agreed: 1, inUse: 1, note: "the peer offers none" },
  { name: "none offered here", agreed: 1, inUse: 1, choice: NONE, note: NONE.reason },
] as const)("with $name the note is $note", ({ agreed, inUse, note, ...rest }) => {
  const { choice, sockets, session } = { choice: OFFERED, sockets: 8, session: "up" as const, ...rest };
  const said = laneNote({ agreed, inUse }, { choice, sockets, session });
  if (note === null) expect(said).toBeNull();
  else expect(said).toContain(note);
});

test("the state of lanes is told like an offload", () => {
  const fine = { ports: [1, 2], problem: null };
  expect(laneState(OFFERED, fine)).toEqual({ name: "lanes", state: "on", reason: "8 offered: 4 workers" });
  expect(laneState(OFFERED, null)).toMatchObject({ state: "on" });
  expect(laneState(NONE, fine)).toMatchObject({ state: "off", reason: NONE.reason });
  const problem = "only 2 of the ports could be opened: no descriptor is left";
  expect(laneState(OFFERED, { ports: [1], problem })).toMatchObject({ state: "fallback", reason: problem });
});
