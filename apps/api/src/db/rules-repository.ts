import { and, count, eq } from "drizzle-orm";
import type { NetworkId, RuleId } from "@weft/protocol";
import type { Executor } from "./client.ts";
import { keyset, pageOf } from "./paging.ts";
import type { Page, PageRequest } from "./paging.ts";
import { storedNetworkId, storedRuleId } from "./rows.ts";
import { rules } from "./schema/index.ts";

export type Rule = {
  readonly id: RuleId;
  readonly networkId: NetworkId;
  readonly kind: "all-to-all";
  readonly createdAt: Date;
};

export async function insertRule(tx: Executor, rule: Rule): Promise<void> {
  await tx.insert(rules).values(rule);
}

export async function findRule(db: Executor, id: string): Promise<Rule | undefined> {
  const [row] = await db.select().from(rules).where(eq(rules.id, id));
  return row && toRule(row);
}

export async function findRuleOfKind(
  db: Executor,
  networkId: NetworkId,
  kind: Rule["kind"],
): Promise<Rule | undefined> {
  const [row] = await db
    .select()
    .from(rules)
    .where(and(eq(rules.networkId, networkId), eq(rules.kind, kind)))
    .limit(1);
  return row && toRule(row);
}

export async function listRules(
  db: Executor,
  request: PageRequest<"createdAt"> & { readonly networkId: string },
): Promise<Page<Rule>> {
  const page = keyset({ sort: rules.createdAt, id: rules.id }, request);
  const rows = await db
    .select()
    .from(rules)
    .where(and(eq(rules.networkId, request.networkId), page.where))
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return pageOf(rows.map(toRule), request.limit, (rule) => ({ value: rule.createdAt.toISOString(), id: rule.id }));
}

export async function countRules(db: Executor, networkId: string): Promise<number> {
  const [row] = await db.select({ total: count() }).from(rules).where(eq(rules.networkId, networkId));
  return row?.total ?? 0;
}

export async function deleteRule(tx: Executor, id: RuleId): Promise<void> {
  await tx.delete(rules).where(eq(rules.id, id));
}

function toRule(row: typeof rules.$inferSelect): Rule {
  return { ...row, id: storedRuleId(row.id), networkId: storedNetworkId(row.networkId) };
}
