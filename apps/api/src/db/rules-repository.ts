import { and, asc, eq, getTableColumns, inArray, isNull, or } from "drizzle-orm";
import type { GroupId, NetworkId, PeerId, RuleId } from "@weft/protocol";
import { ALL, selectorKey } from "../domain/policy-rule.ts";
import type { PolicyRule } from "../domain/policy-rule.ts";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { policyRuleFromRow, storedNetworkId } from "./rows.ts";
import { rules } from "./schema/index.ts";

export type Rule = PolicyRule & {
  readonly networkId: NetworkId;
  readonly name: string;
  readonly description: string;
  /** Lower is asked first. */
  readonly place: number;
  readonly createdAt: Date;
};

/** The rule that lets all members reach all. */
export function openRule(of: Pick<Rule, "id" | "networkId" | "createdAt">): Rule {
  const nothing = { protocol: null, ports: null, icmpType: null, icmpCode: null };
  const between = { source: ALL, destination: ALL, direction: "both-ways" } as const;
  return { ...of, ...nothing, ...between, action: "allow", state: "on", name: "", description: "", place: 0 };
}

export async function insertRule(tx: Executor, rule: Rule): Promise<void> {
  await tx
    .insert(rules)
    .values({ id: rule.id, networkId: rule.networkId, createdAt: rule.createdAt, ...columnsOf(rule) });
}

export async function findRule(db: Executor, id: string): Promise<Rule | undefined> {
  const [row] = await db.select().from(rules).where(eq(rules.id, id));
  return row && toRule(row);
}

export async function changeRule(tx: Executor, rule: Rule): Promise<void> {
  await tx.update(rules).set(columnsOf(rule)).where(eq(rules.id, rule.id));
}

/** Rules with this group or peer on one of their sides, in the order of their ids. */
export async function rulesNaming(db: Executor, id: GroupId | PeerId): Promise<readonly Rule[]> {
  const rows = await db
    .select()
    .from(rules)
    .where(or(eq(rules.source, id), eq(rules.destination, id)))
    .orderBy(asc(rules.id));
  return rows.map(toRule);
}

/** All rules of a network in the order in which nodes ask them. */
export async function allRules(db: Executor, networkId: NetworkId): Promise<readonly Rule[]> {
  const rows = await db
    .select()
    .from(rules)
    .where(eq(rules.networkId, networkId))
    .orderBy(asc(rules.place), asc(rules.createdAt), asc(rules.id));
  return rows.map(toRule);
}

export async function deleteRules(tx: Executor, ids: readonly RuleId[]): Promise<void> {
  if (ids.length > 0) await tx.delete(rules).where(inArray(rules.id, [...ids]));
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
      and(
        eq(rules.networkId, networkId),
        eq(rules.state, state),
        eq(rules.action, "allow"),
        eq(rules.source, "all"),
        eq(rules.destination, "all"),
        isNull(rules.protocol),
      ),
    )
    .limit(1);
  return row && toRule(row);
}

export const rulesList: ListTable = {
  table: rules,
  id: rules.id,
  fields: { place: sortColumn(rules.place), createdAt: sortColumn(rules.createdAt) },
  filters: { state: equals(rules.state), action: equals(rules.action) },
  search: [rules.name, rules.description],
};

export async function listRules(db: Executor, networkId: string, request: ListRequest): Promise<ListedPage<Rule>> {
  const page = listPage(rulesList, request, eq(rules.networkId, networkId));
  const rows = await db
    .select({ ...getTableColumns(rules), listPlace: page.place })
    .from(rules)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: toRule });
}

function toRule(row: typeof rules.$inferSelect): Rule {
  const { name, description, place, createdAt } = row;
  return { ...policyRuleFromRow(row), networkId: storedNetworkId(row.networkId), name, description, place, createdAt };
}

/** Everything of a rule that can change. */
function columnsOf(rule: Rule) {
  const { name, description, place, action, state, direction, protocol, ports, icmpType, icmpCode } = rule;
  return {
    kind: ruleKind(rule),
    name,
    description,
    place,
    action,
    state,
    source: selectorKey(rule.source),
    destination: selectorKey(rule.destination),
    direction,
    protocol,
    ports: ports && [...ports],
    icmpType,
    icmpCode,
  };
}

/** "all-to-all" when neither side says who. */
export function ruleKind({ source, destination }: Pick<Rule, "source" | "destination">): "all-to-all" | "selected" {
  return source.kind === "all" && destination.kind === "all" ? "all-to-all" : "selected";
}
