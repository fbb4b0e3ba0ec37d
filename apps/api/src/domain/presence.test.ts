import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPresenceBook, GRACE_MS, SETTLE_MS } from "./presence.ts";

const later = SETTLE_MS + 1;

describe("presence", () => {
  test("AP-41 right after a start silent nodes are unknown, later offline", () => {
    const book = createPresenceBook<string>(0);

    expect(book.stateOf("a", 1)).toBe("unknown");
    expect(book.stateOf("a", later)).toBe("offline");
  });

  test("AP-44 a broken stream counts as online for the grace time, a farewell does not", () => {
    const book = createPresenceBook<string>(0);
    book.opened("a", later);
    book.opened("b", later);

    book.closed("a", "broken", later);
    book.closed("b", "bye", later);

    expect(book.stateOf("a", later + GRACE_MS - 1)).toBe("online");
    expect(book.stateOf("a", later + GRACE_MS)).toBe("offline");
    expect(book.stateOf("b", later)).toBe("offline");
  });

  test("AP-41 the end of the grace is announced once, and not when the node came back", () => {
    const book = createPresenceBook<string>(0);
    for (const id of ["gone", "back"]) {
      book.opened(id, later);
      book.closed(id, "broken", later);
    }
    book.opened("back", later + 5);

    expect(book.takeExpired(later + GRACE_MS - 1)).toEqual([]);
    expect(book.takeExpired(later + GRACE_MS)).toEqual(["gone"]);
    expect(book.takeExpired(later + GRACE_MS)).toEqual([]);
  });

  test("CP-28 any order of overlapping opens and closes ends in the state of the streams that are left", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 40 }), (events) => {
        const book = createPresenceBook<string>(0);
        let open = 0;
        for (const isOpen of events) {
          if (isOpen) {
            open += 1;
            book.opened("a", later);
          } else if (open > 0) {
            open -= 1;
            book.closed("a", "broken", later);
          }
        }
        expect(book.stateOf("a", later + GRACE_MS)).toBe(open > 0 ? "online" : "offline");
      }),
    );
  });
});
