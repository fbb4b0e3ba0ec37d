import { and, count, eq, getTableColumns, gt, isNull, or } from "drizzle-orm";
import type { SQL } from "drizzle-orm";
import { SCOPE_RESOURCES } from "../registry/access.ts";
import type { Scope } from "../registry/access.ts";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { tokens, users } from "./schema/index.ts";
import { rightsColumns } from "./users-repository.ts";
import type { User } from "./users-repository.ts";

export type Token = {
  readonly id: string;
  /** Whose rights it has. */
  readonly userId: string;
  readonly createdBy: string | null;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
};

export async function insertToken(tx: Executor, token: Token & { readonly hash: string }): Promise<void> {
  await tx.insert(tokens).values({ ...token, scopes: [...token.scopes] });
}

export async function findToken(db: Executor, id: string): Promise<Token | undefined> {
  const [row] = await db.select().from(tokens).where(eq(tokens.id, id));
  return row && toToken(row);
}

export type LiveToken = { readonly token: Token; readonly user: User };

/** The valid token with this hash and the account it acts for. */
export async function findTokenByHash(db: Executor, hash: string, now: Date): Promise<LiveToken | undefined> {
  return liveToken(db, eq(tokens.hash, hash), now);
}

/** The same by its id; undefined once it was revoked or expired, or its account was disabled. */
export async function findLiveToken(db: Executor, id: string, now: Date): Promise<LiveToken | undefined> {
  return liveToken(db, eq(tokens.id, id), now);
}

export const tokensList: ListTable = {
  table: tokens,
  id: tokens.id,
  fields: { createdAt: sortColumn(tokens.createdAt), name: sortColumn(tokens.name) },
  filters: { userId: equals(tokens.userId) },
  search: [tokens.name],
};

export async function listTokens(db: Executor, request: ListRequest): Promise<ListedPage<Token>> {
  const page = listPage(tokensList, request);
  const rows = await db
    .select({ ...getTableColumns(tokens), listPlace: page.place })
    .from(tokens)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: toToken });
}

export async function countTokens(db: Executor, userId: string): Promise<number> {
  const [row] = await db.select({ total: count() }).from(tokens).where(eq(tokens.userId, userId));
  return row?.total ?? 0;
}

export async function deleteToken(tx: Executor, id: string): Promise<void> {
  await tx.delete(tokens).where(eq(tokens.id, id));
}

export async function touchToken(db: Executor, id: string, lastUsedAt: Date): Promise<void> {
  await db.update(tokens).set({ lastUsedAt }).where(eq(tokens.id, id));
}

async function liveToken(db: Executor, which: SQL, now: Date): Promise<LiveToken | undefined> {
  const [row] = await db
    .select({ token: tokens, user: rightsColumns })
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.userId))
    .where(and(which, or(isNull(tokens.expiresAt), gt(tokens.expiresAt, now)), isNull(users.disabledAt)));
  return row && { token: toToken(row.token), user: row.user };
}

function toToken(row: typeof tokens.$inferSelect): Token {
  const { hash: _hash, scopes, ...rest } = row;
  // A scope that a later release dropped gives no right any more.
  return { ...rest, scopes: scopes.flatMap((text) => ALL_SCOPES.find((scope) => scope === text) ?? []) };
}

const ALL_SCOPES: readonly Scope[] = SCOPE_RESOURCES.flatMap((resource): Scope[] => [
  `${resource}:read`,
  `${resource}:write`,
]);
