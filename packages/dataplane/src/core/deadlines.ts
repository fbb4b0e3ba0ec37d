/** One deadline per key, the earliest always at hand: an indexed heap, every operation O(log n). */
export type Deadlines = {
  /** Sets, moves or (with null) removes the deadline of a key. */
  readonly set: (key: number, atMs: number | null) => void;
  /** The earliest deadline; null when there is none. */
  readonly nextAtMs: () => number | null;
  /** Takes out the earliest key whose time has come; null when none has. */
  readonly takeDue: (nowMs: number) => number | null;
  readonly size: () => number;
};

export function createDeadlines(): Deadlines {
  const heap: Entry[] = [];
  const places = new Map<number, number>();

  const place = (entry: Entry, index: number): void => {
    heap[index] = entry;
    places.set(entry.key, index);
  };
  const remove = (index: number): void => {
    const removed = heap[index];
    const last = heap.pop();
    if (!removed || !last) return;
    places.delete(removed.key);
    if (last === removed) return;
    settle(last, index);
  };
  const settle = (entry: Entry, from: number): void => {
    const up = rise(heap, entry, from, place);
    place(entry, sink(heap, entry, up, place));
  };

  return {
    set(key, atMs) {
      const index = places.get(key);
      if (index !== undefined) remove(index);
      if (atMs === null) return;
      const entry = { key, atMs };
      heap.push(entry);
      settle(entry, heap.length - 1);
    },
    nextAtMs: () => heap[0]?.atMs ?? null,
    takeDue(nowMs) {
      const first = heap[0];
      if (!first || first.atMs > nowMs) return null;
      remove(0);
      return first.key;
    },
    size: () => heap.length,
  };
}

type Entry = { readonly key: number; readonly atMs: number };
type Place = (entry: Entry, index: number) => void;

/** Moves later parents down; returns the hole left for `entry`. */
function rise(heap: readonly Entry[], entry: Entry, from: number, place: Place): number {
  let hole = from;
  while (hole > 0) {
    const parentAt = (hole - 1) >> 1;
    const parent = heap[parentAt];
    if (!parent || parent.atMs <= entry.atMs) break;
    place(parent, hole);
    hole = parentAt;
  }
  return hole;
}

/** Moves earlier children up; returns the hole left for `entry`. */
function sink(heap: readonly Entry[], entry: Entry, from: number, place: Place): number {
  let hole = from;
  for (;;) {
    const [left, right] = [heap[2 * hole + 1], heap[2 * hole + 2]];
    const child = right && left && right.atMs < left.atMs ? right : left;
    if (!child || child.atMs >= entry.atMs) return hole;
    place(child, hole);
    hole = 2 * hole + (child === right ? 2 : 1);
  }
}
