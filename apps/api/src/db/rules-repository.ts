import { and, asc, count, eq, isNull, max, min, sql } from "drizzle-orm";
import type { SQL } from "drizzle-orm";
import type { NetworkId, RuleId } from "@weft/protocol";
import type { PolicyRule } from "../domain/policy-rule.ts";
import type { Executor } from "./client.ts";
import { pageOf } from "./paging.ts";
import type { Page, PageRequest, Place } from "./paging.ts";
import { storedNetworkId, storedRuleId } from "./rows.ts";
import { rules } from "./schema/index.ts";

export type Rule = PolicyRule & {
  readonly networkId: NetworkId;
  readonly kind: "all-to-all";
  readonly name: string;
  readonly description: string;
  /** Lower is asked first. */
  readonly place: number;
  readonly createdAt: Date;
};

/** The rule that lets all members reach all. */
export function openRule(of: Pick<Rule, "id" | "networkId" | "createdAt">): Rule {
  const nothing = { protocol: null, ports: null, icmpType: null, icmpCode: null };
  return { ...of, ...nothing, kind: "all-to-all", action: "allow", state: "on", name: "", description: "", place: 0 };
}

export async function insertRule(tx: Executor, rule: Rule): Promise<void> {
  await tx.insert(rules).values(rule);
}

export async function findRule(db: Executor, id: string): Promise<Rule | undefined> {
  const [row] = await db.select().from(rules).where(eq(rules.id, id));
  return row && toRule(row);
}

/** What can be changed of a rule that is there. */
export type RuleSettings = Pick<Rule, "name" | "description" | "state">;

export async function changeRule(tx: Executor, id: RuleId, settings: RuleSettings): Promise<void> {
  await tx.update(rules).set(settings).where(eq(rules.id, id));
}

/** The rule in this state that lets everything pass. */
export async function findOpenRule(
  db: Executor,
  networkId: NetworkId,
  state: Rule["state"],
): Promise<Rule | undefined> {
  const [row] = await db
    .select()
    .from(rules)
    .where(
      and(eq(rules.networkId, networkId), eq(rules.state, state), eq(rules.action, "allow"), isNull(rules.protocol)),
    )
    .limit(1);
  return row && toRule(row);
}

/** Lowest and highest place of a network's rules; both 0 without rules. */
export async function rulePlaces(
  db: Executor,
  networkId: NetworkId,
): Promise<{ readonly first: number; readonly last: number }> {
  const [row] = await db
    .select({ first: min(rules.place), last: max(rules.place) })
    .from(rules)
    .where(eq(rules.networkId, networkId));
  return { first: row?.first ?? 0, last: row?.last ?? 0 };
}

/** Rules in the order in which nodes ask them. */
export async function listRules(
  db: Executor,
  request: Pick<PageRequest<"place">, "limit" | "after"> & { readonly networkId: string },
): Promise<Page<Rule>> {
  const rows = await db
    .select()
    .from(rules)
    .where(and(eq(rules.networkId, request.networkId), request.after && isBehind(request.after)))
    .orderBy(asc(rules.place), asc(rules.createdAt), asc(rules.id))
    // One more than asked for tells whether another page follows.
    .limit(request.limit + 1);
  return pageOf(rows.map(toRule), request.limit, (rule) => ({
    value: `${rule.place}${SEPARATOR}${rule.createdAt.toISOString()}`,
    id: rule.id,
  }));
}

export async function countRules(db: Executor, networkId: string): Promise<number> {
  const [row] = await db.select({ total: count() }).from(rules).where(eq(rules.networkId, networkId));
  return row?.total ?? 0;
}

export async function deleteRule(tx: Executor, id: RuleId): Promise<void> {
  await tx.delete(rules).where(eq(rules.id, id));
}

function isBehind({ value, id }: Place): SQL {
  const [place = "", createdAt = ""] = value.split(SEPARATOR);
  return sql`(${rules.place}, ${rules.createdAt}, ${rules.id}) > (${place}::integer, ${createdAt}::timestamptz, ${id})`;
}

const SEPARATOR = " ";

function toRule(row: typeof rules.$inferSelect): Rule {
  return { ...row, id: storedRuleId(row.id), networkId: storedNetworkId(row.networkId) };
}
