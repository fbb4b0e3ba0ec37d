import type { Result } from "@weft/protocol";
import type { Failure } from "../../domain/failure.ts";
import type { Place, Work } from "./work.ts";

/** Something that the server has. */
export type Found<Item> = { readonly id: string; readonly item: Item };

/** One kind of thing in a file: how it is found, matched and changed. `Where` is the network that it belongs to. */
export type Kind<Item, Where> = {
  readonly kind: string;
  /** What makes it this one and no other; the file and the server are matched by it. */
  readonly keyOf: (item: Item) => string;
  readonly read: (work: Work, place: Where) => Promise<Result<readonly Found<Item>[], Failure>>;
  readonly create: (work: Work, place: Where, item: Item) => Promise<Result<unknown, Failure>>;
  readonly change: (
    work: Work,
    place: Where,
    change: { readonly id: string; readonly before: Item; readonly after: Item },
  ) => Promise<Result<unknown, Failure>>;
  readonly remove: (work: Work, place: Where, found: Found<Item>) => Promise<Result<unknown, Failure>>;
  /** What the file leaves to the server; `before` is what it has. */
  readonly adopt?: (wanted: Item, before: Item | undefined) => Item;
  /** Why it has to wait: something that no file can make is not there. */
  readonly waitsFor?: (item: Item, place: Where) => string | undefined;
  readonly dangers?: (before: Item | null, after: Item | null) => readonly string[];
  /** As plans show it; without secrets. */
  readonly show?: (item: Item) => unknown;
  /** Other things may refer to it: it goes when everything else is done. */
  readonly removedLast?: boolean;
};

/** One thing that would be done. */
export type Change = {
  readonly action: "create" | "update" | "delete";
  readonly kind: string;
  readonly network: string | null;
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly dangers: string[];
  /** kept: would be deleted by `prune`; skipped: waits for something. */
  readonly state: "planned" | "kept" | "skipped";
  readonly reason: string | null;
  readonly isLast: boolean;
  readonly make: (work: Work) => Promise<Result<unknown, Failure>>;
};

export type DiffOptions = { readonly prune: boolean; readonly absentPeers: "refuse" | "skip" };

/** What lies between what is there and what is wanted. Deletions come first: they may stand in the way of the rest. */
export function differences<Item, Where extends Place | null>(
  kind: Kind<Item, Where>,
  place: Where,
  sides: { readonly found: readonly Found<Item>[]; readonly wanted: readonly Item[]; readonly options: DiffOptions },
): Change[] {
  const { options } = sides;
  const there = new Map(sides.found.map((found) => [kind.keyOf(found.item), found]));
  const wanted = new Set(sides.wanted.map(kind.keyOf));
  const gone = sides.found.filter(({ item }) => !wanted.has(kind.keyOf(item)));
  return [
    ...gone.map((found): Change => ({
      ...described(kind, place, { before: found.item, after: null }),
      action: "delete",
      state: options.prune ? "planned" : "kept",
      reason: options.prune ? null : "deleted only with prune",
      make: (work) => kind.remove(work, place, found),
    })),
    ...sides.wanted.flatMap((item) => changeTo(kind, place, { found: there.get(kind.keyOf(item)), item, options })),
  ];
}

function changeTo<Item, Where extends Place | null>(
  kind: Kind<Item, Where>,
  place: Where,
  sides: { readonly found: Found<Item> | undefined; readonly item: Item; readonly options: DiffOptions },
): Change[] {
  const { found, item, options } = sides;
  const after = kind.adopt?.(item, found?.item) ?? item;
  if (found && canonical(found.item) === canonical(after)) return [];
  const reason = kind.waitsFor?.(after, place) ?? null;
  return [
    {
      ...described(kind, place, { before: found?.item ?? null, after }),
      action: found ? "update" : "create",
      state: reason !== null && options.absentPeers === "skip" ? "skipped" : "planned",
      reason,
      make: (work) =>
        found ? kind.change(work, place, { id: found.id, before: found.item, after }) : kind.create(work, place, after),
    },
  ];
}

function described<Item, Where extends Place | null>(
  kind: Kind<Item, Where>,
  place: Where,
  { before, after }: { readonly before: Item | null; readonly after: Item | null },
) {
  const show = kind.show ?? ((item: Item): unknown => item);
  const item = after ?? before;
  return {
    kind: kind.kind,
    network: place?.network ?? null,
    name: item === null ? "" : kind.keyOf(item),
    before: before === null ? null : show(before),
    after: after === null ? null : show(after),
    dangers: [...(kind.dangers?.(before, after) ?? [])],
    isLast: after === null && kind.removedLast === true,
  };
}

/** The same text for the same item, whatever the order of its fields. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  );
}

/** In the order of their keys, whatever order the database has. */
export function sorted<Item>(
  { keyOf }: { readonly keyOf: (item: Item) => string },
  found: readonly Found<Item>[],
): Found<Item>[] {
  return found.toSorted((left, right) => (keyOf(left.item) < keyOf(right.item) ? -1 : 1));
}
