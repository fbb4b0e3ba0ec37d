import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { contracts } from "../registry/contracts.ts";
import { parseOrder } from "../registry/list-kit.ts";
import type { ListRequest, ListSpec } from "../registry/list-kit.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import type { Database } from "./client.ts";
import { LIST_TABLES } from "./list-tables.ts";
import { listPage } from "./lists.ts";
import { migrate } from "./migrate.ts";

/** Filters that find at most one row through a unique index: any order of one row is sorted. */
const FINDS_ONE: Readonly<Record<string, readonly string[]>> = { networks: ["name"], peers: ["name"] };

/** Filters that are looked at while an order's index is walked: they hold lists or ranges, which no index keeps in order. */
const LOOKED_AT: Readonly<Record<string, readonly string[]>> = { flowRecords: ["address"], peers: ["groupId"] };

let database: TestDatabase;
let connection: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  connection = database.connect();
  await migrate(connection.sql);
});
afterAll(async () => {
  await connection.dispose();
  await database.drop();
});

const specs = Object.values(contracts).flatMap((verbs) =>
  Object.values(verbs).flatMap((contract): ListSpec[] =>
    "list" in contract && contract.list && contract.list.rows !== "computed" ? [contract.list] : [],
  ),
);

test("API-23 every list of the contracts has a table that offers the same filters and orders", () => {
  for (const { name, orders, filters, search } of specs) {
    const table = LIST_TABLES[name]?.list;
    const fields = new Set(orders.flatMap(parseOrder).map(({ field }) => field));

    expect(table, name).toBeDefined();
    expect(Object.keys(table?.filters ?? {}).toSorted(), name).toEqual(Object.keys(filters).toSorted());
    expect(new Set(Object.keys(table?.fields ?? {})), name).toEqual(fields);
    expect((table?.search.length ?? 0) > 0, name).toBe(search !== undefined);
  }
});

describe.each(specs.map((spec) => ({ spec, name: spec.name })))("$name", ({ spec }) => {
  const filterNames = Object.keys(spec.filters);
  const choices = [[], ...filterNames.map((one) => [one]), ...pairsOf(filterNames), filterNames];
  const cases = spec.orders.flatMap((order) =>
    choices.flatMap((filters) =>
      (["first page", "later page"] as const).map((page) => ({
        order,
        filters: filters.join("+"),
        names: filters,
        page,
      })),
    ),
  );

  test.each(cases)("API-23 sort=$order with filters [$filters] reads an index in order ($page)", async (one) => {
    const entry = LIST_TABLES[spec.name];
    if (!entry) throw new Error(`${spec.name} has no table`);
    const order = parseOrder(one.order);
    const request: ListRequest = {
      order,
      limit: 100,
      after:
        one.page === "first page"
          ? undefined
          : [
              ...order.map(({ field }) => sampleOf(entry.list.fields[field]?.type)),
              sampleOf(entry.list.id.getSQLType()),
            ],
      filters: Object.fromEntries(one.names.map((name) => [name, filterSample(name, spec.filters[name])])),
      q: undefined,
      total: "not wanted",
    };
    const scope = entry.scopedBy === undefined ? undefined : sql`${sql.identifier(entry.scopedBy)} = 'net_1'`;

    const nodes = await planOf(entry.list, request, scope);

    const kinds = nodes.map((node) => node["Node Type"]);
    const findsOne = one.names.some((name) => FINDS_ONE[spec.name]?.includes(name));
    expect(kinds).not.toContain("Seq Scan");
    if (!findsOne) {
      expect(kinds).not.toContain("Sort");
      expect(kinds).not.toContain("Incremental Sort");
    }
    const [only] = one.names;
    if (only !== undefined && one.names.length === 1 && !findsOne && !LOOKED_AT[spec.name]?.includes(only)) {
      const conditions = nodes.map((node) => node["Index Cond"] ?? "").join(" ");
      expect(conditions).toContain(SAMPLE_MARKS[only] ?? String(filterSample(only, spec.filters[only])));
    }
  });
});

/** The planner may use what exists and nothing else: what it must sort or scan whole has no index. */
async function planOf(
  list: (typeof LIST_TABLES)[string]["list"],
  request: ListRequest,
  scope: ReturnType<typeof sql> | undefined,
) {
  const page = listPage(list, request, scope);
  const { db } = connection;
  return db.transaction(async (tx) => {
    for (const feature of ["seqscan", "sort", "incremental_sort", "bitmapscan"]) {
      await tx.execute(sql.raw(`set local enable_${feature} = off`));
    }
    const select = tx
      .select({ listPlace: page.place })
      .from(list.table)
      .where(page.where)
      .orderBy(...page.orderBy)
      .limit(page.limit);
    const rows = await tx.execute(sql`explain (format json) ${select}`);
    return flatten(PlanSchema.parse(rows[0])["QUERY PLAN"].map(({ Plan }) => Plan));
  });
}

type PlanNode = {
  readonly "Node Type": string;
  readonly "Index Cond"?: string | undefined;
  readonly Plans?: PlanNode[] | undefined;
};
const NodeSchema: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({ "Node Type": z.string(), "Index Cond": z.string().optional(), Plans: z.array(NodeSchema).optional() }),
);
const PlanSchema = z.object({ "QUERY PLAN": z.array(z.object({ Plan: NodeSchema })) });

function flatten(nodes: readonly PlanNode[]): PlanNode[] {
  return nodes.flatMap((node) => [node, ...flatten(node.Plans ?? [])]);
}

function pairsOf(names: readonly string[]): string[][] {
  return names.flatMap((first, index) => names.slice(index + 1).map((second) => [first, second]));
}

function sampleOf(type: string | undefined): string {
  if (type === "integer" || type === "bigint") return "7";
  return type?.startsWith("timestamp") ? "2030-01-02T03:04:05Z" : "sample";
}

function filterSample(name: string, schema: unknown): string | number | boolean {
  if (name === "address") return "10.0.0.0/8";
  if (name in SAMPLE_MARKS) return "2030-01-02T03:04:05Z";
  if (schema instanceof z.ZodEnum) return String(schema.options[0]);
  if (schema instanceof z.ZodBoolean) return true;
  return schema instanceof z.ZodNumber ? 7 : `sample-${name}`;
}

/** Filters over moments, and how one shows in a plan. */
const SAMPLE_MARKS: Readonly<Record<string, string>> = { since: "2030-01-02", until: "2030-01-02" };
