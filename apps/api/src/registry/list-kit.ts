import { z } from "zod";

/** What callers may ask of one list. */
export type ListSpec<Order extends string = string, Filters extends ListFilters = ListFilters> = {
  /** "computed": its rows stand in no table, they are made for each question. */
  readonly rows?: "computed";
  /** Name of the list and of its table in `db/list-tables.ts`. */
  readonly name: string;
  /** Orders on offer, the default first: fields by comma, each falling when a dash stands before it. */
  readonly orders: readonly [Order, ...Order[]];
  /** Filters by name; each is optional in the input. */
  readonly filters: Filters;
  /** What the text of `q` is searched in; left out when the list has no search. */
  readonly search?: string;
};

export type ListFilters = Readonly<Record<string, z.ZodType<FilterValue | undefined>>>;
export type FilterValue = string | number | boolean;

/** A page as a caller asked for it, checked. */
export type ListRequest = {
  readonly order: readonly SortField[];
  readonly limit: number;
  /** Sort values and id of the row before the page. */
  readonly after: readonly string[] | undefined;
  readonly filters: Readonly<Record<string, FilterValue>>;
  readonly q: string | undefined;
  readonly total: "wanted" | "not wanted";
};

export type SortField = { readonly field: string; readonly direction: "ascending" | "descending" };

/** Declares a list. */
export function listSpec<const Order extends string, Filters extends ListFilters>(
  spec: ListSpec<Order, Filters>,
): ListSpec<Order, Filters> {
  return spec;
}

/** Input fields of a list: the same for all, and its own filters. The type names `q` also for a list without search. */
export function listFields<Order extends string, Filters extends ListFilters>(
  spec: ListSpec<Order, Filters>,
): ListFieldsOf<Order, Filters>;
export function listFields(spec: ListSpec): Record<string, z.ZodType> {
  return {
    limit: z.int().min(1).max(500).default(100).describe("Items of one page."),
    cursor: z.string().max(2_000).optional().describe("Opaque place to go on from: `nextCursor` of the page before."),
    count: z.boolean().default(false).describe("Adds `total`, computed with the filter applied."),
    sort: z.enum(spec.orders).default(spec.orders[0]).describe("Fields by comma; a dash before one turns it around."),
    ...(spec.search !== undefined && { q: z.string().max(100).optional().describe(spec.search) }),
    ...optionalOf(spec.filters),
  };
}

/** Reads an order's text. */
export function parseOrder(text: string): readonly SortField[] {
  return text.split(",").map((part) => {
    const isFalling = part.startsWith("-");
    return { field: isFalling ? part.slice(1) : part, direction: isFalling ? "descending" : "ascending" };
  });
}

type ListFieldsOf<Order extends string, Filters extends ListFilters> = {
  limit: z.ZodDefault<z.ZodInt>;
  cursor: z.ZodOptional<z.ZodString>;
  count: z.ZodDefault<z.ZodBoolean>;
  sort: z.ZodDefault<z.ZodType<Order, Order>>;
  q: z.ZodOptional<z.ZodString>;
} & { -readonly [Name in keyof Filters]: z.ZodOptional<Filters[Name]> };

function optionalOf(filters: ListFilters): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(filters).map(([name, schema]) => [name, schema.optional()]));
}
