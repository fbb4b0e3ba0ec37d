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
  const heap: Heap = { entries: [], places: new Map() };
  return {
    set(key, atMs) {
      const index = heap.places.get(key);
      if (index !== undefined) remove(heap, index);
      if (atMs === null) return;
      const entry = { key, atMs };
      heap.entries.push(entry);
      settle(heap, entry, heap.entries.length - 1);
    },
    nextAtMs: () => heap.entries[0]?.atMs ?? null,
    takeDue(nowMs) {
      const first = heap.entries[0];
      if (!first || first.atMs > nowMs) return null;
      remove(heap, 0);
      return first.key;
    },
    size: () => heap.entries.length,
  };
}

type Entry = { readonly key: number; readonly atMs: number };
type Heap = { readonly entries: Entry[]; readonly places: Map<number, number> };

function remove(heap: Heap, index: number): void {
  const removed = heap.entries[index];
  const last = heap.entries.pop();
  if (!removed || !last) return;
  heap.places.delete(removed.key);
  if (last !== removed) settle(heap, last, index);
}

/** Finds the place of `entry`, starting from the free place `from`. */
function settle(heap: Heap, entry: Entry, from: number): void {
  place(heap, entry, sink(heap, entry, rise(heap, entry, from)));
}

function place(heap: Heap, entry: Entry, index: number): void {
  heap.entries[index] = entry;
  heap.places.set(entry.key, index);
}

/** Moves later parents down; returns the place left for `entry`. */
function rise(heap: Heap, entry: Entry, from: number): number {
  let hole = from;
  while (hole > 0) {
    const parentAt = (hole - 1) >> 1;
    const parent = heap.entries[parentAt];
    if (!parent || parent.atMs <= entry.atMs) break;
    place(heap, parent, hole);
    hole = parentAt;
  }
  return hole;
}

/** Moves earlier children up; returns the place left for `entry`. */
function sink(heap: Heap, entry: Entry, from: number): number {
  let hole = from;
  for (;;) {
    const [left, right] = [heap.entries[2 * hole + 1], heap.entries[2 * hole + 2]];
    const child = right && left && right.atMs < left.atMs ? right : left;
    if (!child || child.atMs >= entry.atMs) return hole;
    place(heap, child, hole);
    hole = 2 * hole + (child === right ? 2 : 1);
  }
}
