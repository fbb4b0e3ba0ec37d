import { expect, test } from "vitest";
import { createOccupancy } from "./occupancy.ts";

test("one subject takes its own share, all of them together no more than the whole", () => {
  const rooms = createOccupancy({ perSubject: 2, total: 3 });

  rooms.enter("a");
  const leave = rooms.enter("a");
  expect([rooms.hasRoom("a"), rooms.hasRoom("b")]).toEqual([false, true]);

  rooms.enter("b");
  expect([rooms.hasRoom("b"), rooms.hasRoom("c")]).toEqual([false, false]);

  leave();
  leave();
  expect([rooms.hasRoom("a"), rooms.hasRoom("c")]).toEqual([true, true]);
  rooms.enter("c");
  expect(rooms.hasRoom("a")).toBe(false);
});
