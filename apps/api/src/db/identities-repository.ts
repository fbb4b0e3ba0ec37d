import { and, eq, getTableColumns, lt } from "drizzle-orm";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { identities, identityProviders, usedLogins } from "./schema/index.ts";

export type IdentityProvider = {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Sealed. */
  readonly clientSecret: string | null;
  readonly newcomers: "refuse" | "wait";
  readonly isEnabled: boolean;
  readonly createdAt: Date;
};

export async function insertProvider(tx: Executor, provider: IdentityProvider): Promise<void> {
  await tx.insert(identityProviders).values(provider);
}

export async function findProvider(db: Executor, id: string): Promise<IdentityProvider | undefined> {
  const [row] = await db.select().from(identityProviders).where(eq(identityProviders.id, id));
  return row;
}

/** The same, locked until the end of the transaction. */
export async function lockProvider(tx: Executor, id: string): Promise<IdentityProvider | undefined> {
  const [row] = await tx.select().from(identityProviders).where(eq(identityProviders.id, id)).for("update");
  return row;
}

export const providersList: ListTable = {
  table: identityProviders,
  id: identityProviders.id,
  fields: { createdAt: sortColumn(identityProviders.createdAt), name: sortColumn(identityProviders.name) },
  filters: {},
  search: [identityProviders.name, identityProviders.issuer],
};

export async function listProviders(db: Executor, request: ListRequest): Promise<ListedPage<IdentityProvider>> {
  const page = listPage(providersList, request);
  const rows = await db
    .select({ ...getTableColumns(identityProviders), listPlace: page.place })
    .from(identityProviders)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: (row: IdentityProvider) => row });
}

/** What the login page offers. */
export async function enabledProviders(
  db: Executor,
): Promise<readonly { readonly id: string; readonly name: string }[]> {
  return db
    .select({ id: identityProviders.id, name: identityProviders.name })
    .from(identityProviders)
    .where(eq(identityProviders.isEnabled, true))
    .orderBy(identityProviders.createdAt, identityProviders.id);
}

export async function changeProvider(
  tx: Executor,
  id: string,
  change: Partial<Omit<IdentityProvider, "id" | "createdAt">>,
): Promise<void> {
  await tx.update(identityProviders).set(change).where(eq(identityProviders.id, id));
}

export async function deleteProvider(tx: Executor, id: string): Promise<IdentityProvider | undefined> {
  const [row] = await tx.delete(identityProviders).where(eq(identityProviders.id, id)).returning();
  return row;
}

/** The account of exactly this subject at exactly this issuer. */
export async function findIdentity(
  db: Executor,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<string | undefined> {
  const [row] = await db
    .select({ userId: identities.userId })
    .from(identities)
    .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)));
  return row?.userId;
}

/** Everything that opens an account, oldest first. */
export async function identitiesOf(
  db: Executor,
  userId: string,
): Promise<readonly { readonly issuer: string; readonly subject: string; readonly createdAt: Date }[]> {
  return db
    .select({ issuer: identities.issuer, subject: identities.subject, createdAt: identities.createdAt })
    .from(identities)
    .where(eq(identities.userId, userId))
    .orderBy(identities.createdAt, identities.issuer, identities.subject);
}

export async function deleteIdentity(
  tx: Executor,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<void> {
  await tx.delete(identities).where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)));
}

export async function insertIdentity(
  tx: Executor,
  identity: { readonly issuer: string; readonly subject: string; readonly userId: string; readonly createdAt: Date },
): Promise<void> {
  await tx.insert(identities).values(identity);
}

/** Spends the state of a login; false when it was spent before. */
export async function takeLogin(db: Executor, stateHash: string, expiresAt: Date): Promise<boolean> {
  const taken = await db
    .insert(usedLogins)
    .values({ stateHash, expiresAt })
    .onConflictDoNothing()
    .returning({ stateHash: usedLogins.stateHash });
  return taken.length > 0;
}

export async function deleteUsedLoginsBefore(db: Executor, now: Date): Promise<void> {
  await db.delete(usedLogins).where(lt(usedLogins.expiresAt, now));
}
