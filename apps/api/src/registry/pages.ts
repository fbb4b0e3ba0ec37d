import { ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { ListedPage } from "../db/lists.ts";
import type { Failure } from "../domain/failure.ts";
import type { FeatureDeps } from "./feature-deps.ts";
import { parseOrder } from "./list-kit.ts";
import type { FilterValue, ListRequest, ListSpec } from "./list-kit.ts";

/** What every list takes. */
type AnyListInput = {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly count: boolean;
  readonly sort: string;
  readonly q?: string | undefined;
};

/** Answers a list: opens the cursor, reads the page, seals the next one. */
export async function answerList<Row, Item>(
  deps: Pick<FeatureDeps, "cursors">,
  list: {
    readonly spec: ListSpec;
    /** Whatever else decides which rows are in the list: a cursor fits no other scope. */
    readonly scope: string;
    readonly input: AnyListInput;
    readonly read: (request: ListRequest) => Promise<ListedPage<Row>>;
    readonly view: (row: Row) => Item;
  },
): Promise<Result<{ items: Item[]; nextCursor: string | null; total?: number }, Failure>> {
  const { spec, input } = list;
  const filters = filtersOf(spec, input);
  const name = JSON.stringify([spec.name, list.scope, input.sort, input.q ?? null, filters]);
  let after: readonly string[] | undefined;
  if (input.cursor !== undefined) {
    const opened = deps.cursors.open(name, input.cursor);
    if (!opened.ok) return opened;
    after = opened.value;
  }
  const page = await list.read({
    order: parseOrder(input.sort),
    limit: input.limit,
    after,
    filters,
    q: input.q,
    total: input.count ? "wanted" : "not wanted",
  });
  return ok({
    items: page.rows.map(list.view),
    nextCursor: page.next && deps.cursors.seal(name, page.next),
    ...(page.total !== undefined && { total: page.total }),
  });
}

/** The filters that were set, in the order of the list's definition. */
function filtersOf(spec: ListSpec, input: Readonly<Record<string, unknown>>): Record<string, FilterValue> {
  return Object.fromEntries(
    Object.keys(spec.filters).flatMap((name) => {
      const value = input[name];
      const isSet = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
      return isSet ? [[name, value] as const] : [];
    }),
  );
}

/** Reads a page of rows that are made for the question, as one of a table is read. */
export function pageOfComputed<Row>(
  all: readonly Row[],
  request: ListRequest,
  columns: {
    readonly fields: Readonly<Record<string, (row: Row) => string>>;
    readonly id: (row: Row) => string;
    /** What the search text is looked for in. */
    readonly text: (row: Row) => string;
  },
): ListedPage<Row> {
  const { order, after, limit, q } = request;
  const sign = order.at(-1)?.direction === "descending" ? -1 : 1;
  const keys = [
    ...order.map(({ field, direction }) => {
      const value = columns.fields[field];
      if (!value) throw new Error(`the list offers the order ${field}, which its rows do not have`);
      return { value, sign: direction === "descending" ? -1 : 1 };
    }),
    { value: columns.id, sign },
  ];
  const placeOf = (row: Row) => keys.map(({ value }) => value(row));
  const compare = (left: readonly string[], right: readonly string[]) => {
    const at = keys.findIndex((_key, place) => left[place] !== right[place]);
    if (at < 0) return 0;
    return ((left[at] ?? "") < (right[at] ?? "") ? -1 : 1) * (keys[at]?.sign ?? 1);
  };
  const wanted = q?.toLowerCase();
  const found = all
    .filter((row) => wanted === undefined || columns.text(row).toLowerCase().includes(wanted))
    .map((row) => ({ row, place: placeOf(row) }))
    .toSorted((left, right) => compare(left.place, right.place));
  const behind = after === undefined ? found : found.filter(({ place }) => compare(place, after) > 0);
  const kept = behind.slice(0, limit);
  return {
    rows: kept.map(({ row }) => row),
    next: behind.length > kept.length ? (kept.at(-1)?.place ?? null) : null,
    total: request.total === "wanted" ? found.length : undefined,
  };
}
