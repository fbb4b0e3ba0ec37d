import { and, asc, count, desc, eq, gte, ilike, lt, lte, or, sql } from "drizzle-orm";
import type { SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { z } from "zod";
import type { FilterValue, ListRequest, SortField } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { containsPattern } from "./paging.ts";

/** How a list is read from its table. */
export type ListTable = {
  readonly table: PgTable;
  readonly id: PgColumn;
  /** What rows can be sorted by; never null. */
  readonly fields: Readonly<Record<string, SortColumn>>;
  readonly filters: Readonly<Record<string, ListFilter>>;
  /** What the search text is looked for in. */
  readonly search: readonly (PgColumn | SQL)[];
};

type SortColumn = { readonly value: PgColumn; readonly type: string };
type ListFilter = (value: FilterValue) => SQL;

/** Everything a select needs to read one page. */
export type ListPage = {
  readonly list: ListTable;
  readonly request: ListRequest;
  /** The filter without the place; what `total` counts. */
  readonly matching: SQL | undefined;
  readonly where: SQL | undefined;
  readonly orderBy: readonly SQL[];
  readonly limit: number;
  /** Select it beside the columns, as `listPlace`: where the row stands in the list. */
  readonly place: SQL<string>;
};

/** A page of rows, and the place behind it when more follow. */
export type ListedPage<T> = {
  readonly rows: readonly T[];
  readonly next: readonly string[] | null;
  readonly total: number | undefined;
};

/** Sorts by a column that is never null. */
export const sortColumn = (column: PgColumn): SortColumn => ({ value: column, type: column.getSQLType() });
/** Keeps rows whose column equals the filter's value. */
export const equals =
  (column: PgColumn): ListFilter =>
  (value) =>
    eq(column, value);
/** Keeps rows from a moment on. */
export const notBefore =
  (column: PgColumn): ListFilter =>
  (value) =>
    gte(column, new Date(String(value)));
/** Keeps rows before a moment. */
export const before =
  (column: PgColumn): ListFilter =>
  (value) =>
    lt(column, new Date(String(value)));

/** Turns a request into conditions and order; `scope` is what callers cannot choose. */
export function listPage(list: ListTable, request: ListRequest, scope?: SQL): ListPage {
  const order = request.order.map(({ field, direction }) => ({ ...columnOf(list, field), direction }));
  const keys = [...order, { ...sortColumn(list.id), direction: order.at(-1)?.direction ?? "ascending" }];
  const filters = Object.entries(request.filters).map(([name, value]) => filterOf(list, name)(value));
  const matching = and(scope, ...filters, searching(list, request.q));
  return {
    list,
    request,
    matching,
    where: and(matching, request.after && behind(keys, request.after)),
    orderBy: keys.map(({ value, direction }) => (direction === "ascending" ? asc(value) : desc(value))),
    // One more than asked for tells whether another page follows.
    limit: request.limit + 1,
    place: sql<string>`json_build_array(${sql.join(
      keys.map(({ value }) => sql`${value}::text`),
      sql`, `,
    )})::text`,
  };
}

/** Cuts the extra row off, names the place behind the page, and counts when that was asked for. */
export async function finishPage<Row extends object, T>(
  db: Executor,
  page: ListPage,
  found: { readonly rows: readonly (Row & { readonly listPlace: string })[]; readonly read: (row: Row) => T },
): Promise<ListedPage<T>> {
  const { list, matching, request } = page;
  const kept = found.rows.slice(0, request.limit);
  const last = found.rows.length > request.limit ? kept.at(-1) : undefined;
  let total: number | undefined;
  if (request.total === "wanted") {
    const [row] = await db.select({ total: count() }).from(list.table).where(matching);
    total = row?.total ?? 0;
  }
  const rows = kept.map(({ listPlace: _place, ...row }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Row is what was there before the place was added
    return found.read(row as unknown as Row);
  });
  return { rows, next: last ? PlaceSchema.parse(JSON.parse(last.listPlace)) : null, total };
}

type Key = SortColumn & Pick<SortField, "direction">;

/** Rows behind a place. One comparison of rows where an index can start at it; else a bound on the first field as well. */
function behind(keys: readonly Key[], after: readonly string[]): SQL | undefined {
  const places = keys.map(({ type }, index) => sql`${after[index] ?? ""}::${sql.raw(type)}`);
  const isUniform = keys.every(({ direction }) => direction === keys[0]?.direction);
  if (isUniform) {
    const left = sql.join(
      keys.map(({ value }) => sql`${value}`),
      sql`, `,
    );
    const beyond = keys[0]?.direction === "descending" ? sql`<` : sql`>`;
    return sql`(${left}) ${beyond} (${sql.join(places, sql`, `)})`;
  }
  const steps = keys.map(({ value, direction }, index) => {
    const equalBefore = keys.slice(0, index).map((key, at) => sql`${key.value} = ${places[at]}`);
    const place = places[index];
    return and(...equalBefore, direction === "ascending" ? sql`${value} > ${place}` : sql`${value} < ${place}`);
  });
  const first = keys[0];
  const bound =
    first &&
    (first.direction === "ascending" ? gte(sql`${first.value}`, places[0]) : lte(sql`${first.value}`, places[0]));
  return and(bound, or(...steps));
}

function searching(list: ListTable, q: string | undefined): SQL | undefined {
  if (q === undefined) return undefined;
  const pattern = containsPattern(q);
  return or(...list.search.map((place) => ilike(sql`${place}`, pattern)));
}

function columnOf(list: ListTable, field: string): SortColumn {
  const column = list.fields[field];
  if (!column) throw new Error(`the list offers the order ${field}, which its table does not have`);
  return column;
}

function filterOf(list: ListTable, name: string): ListFilter {
  const filter = list.filters[name];
  if (!filter) throw new Error(`the list offers the filter ${name}, which its table does not have`);
  return filter;
}

const PlaceSchema = z.array(z.string());
