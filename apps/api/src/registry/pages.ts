import { ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { ListedPage } from "../db/lists.ts";
import type { PageRequest, Place } from "../db/paging.ts";
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

type ListInput<Sort extends string> = {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly sort: Sort;
};
type FieldOf<Sort extends string> = Sort extends `-${infer Field}` ? Field : Sort;

/** Reads what a caller asked for; `list` names the list with its filter. */
export function pageRequest<Sort extends string>(
  deps: Pick<FeatureDeps, "cursors">,
  list: string,
  input: ListInput<Sort>,
): Result<PageRequest<FieldOf<Sort>>, Failure> {
  let after: Place | undefined;
  if (input.cursor !== undefined) {
    const opened = deps.cursors.open(listName(list, input.sort), input.cursor);
    if (!opened.ok) return opened;
    after = { value: opened.value[0] ?? "", id: opened.value[1] ?? "" };
  }
  const isDescending = input.sort.startsWith("-");
  return ok({
    field: fieldOf(input.sort),
    direction: isDescending ? "descending" : "ascending",
    limit: input.limit,
    after,
  });
}

/** The cursor for the place behind a page. */
export function nextCursor(
  deps: Pick<FeatureDeps, "cursors">,
  list: { readonly name: string; readonly sort: string },
  next: Place | null,
): string | null {
  return next && deps.cursors.seal(listName(list.name, list.sort), [next.value, next.id]);
}

function listName(list: string, sort: string): string {
  return `${list}?sort=${sort}`;
}

function fieldOf<Sort extends string>(sort: Sort): FieldOf<Sort> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type says what the text says
  return (sort.startsWith("-") ? sort.slice(1) : sort) as FieldOf<Sort>;
}
