import { asc, desc, gt, lt, or, and, eq, sql } from "drizzle-orm";
import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/** Where a page begins: behind the row with this sort value and id. */
export type Place = { readonly value: string; readonly id: string };

/** How a page is asked for. */
export type PageRequest<Field extends string> = {
  readonly field: Field;
  readonly direction: "ascending" | "descending";
  readonly limit: number;
  readonly after: Place | undefined;
};

/** A page of rows; `next` is the place behind the last one when more follow. */
export type Page<T> = { readonly rows: readonly T[]; readonly next: Place | null };

/** Order and start of one page over `(column, id)`, which an index must cover. */
export function keyset(
  columns: { readonly sort: PgColumn; readonly id: PgColumn },
  request: PageRequest<string>,
): { readonly where: SQL | undefined; readonly orderBy: SQL[]; readonly limit: number } {
  const order = request.direction === "ascending" ? asc : desc;
  const beyond = request.direction === "ascending" ? gt : lt;
  const value = request.after && sql`${request.after.value}::${sql.raw(columns.sort.getSQLType())}`;
  return {
    where:
      request.after &&
      or(beyond(columns.sort, value), and(eq(columns.sort, value), beyond(columns.id, request.after.id))),
    orderBy: [order(columns.sort), order(columns.id)],
    // One more than asked for tells whether another page follows.
    limit: request.limit + 1,
  };
}

/** Cuts the extra row off and names the place behind the page. */
export function pageOf<T>(rows: readonly T[], limit: number, placeOf: (row: T) => Place): Page<T> {
  const kept = rows.slice(0, limit);
  const last = kept.at(-1);
  return { rows: kept, next: rows.length > limit && last ? placeOf(last) : null };
}

/** A search text for `like`: its own wildcards mean themselves. */
export function containsPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
}
