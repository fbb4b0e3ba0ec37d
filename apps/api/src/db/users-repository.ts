import { and, count, eq, isNotNull, isNull, ne, sql } from "drizzle-orm";
import type { Grant, NetworkRole, ServerRole } from "../registry/access.ts";
import type { ListRequest } from "../registry/list-kit.ts";
import type { Executor } from "./client.ts";
import { equals, finishPage, listPage, sortColumn } from "./lists.ts";
import type { ListedPage, ListTable } from "./lists.ts";
import { networkRoles, users } from "./schema/index.ts";

/** An account and its rights at this moment. */
export type User = {
  readonly id: string;
  readonly login: string;
  readonly role: ServerRole;
  readonly networkRoles: readonly NetworkRole[];
  readonly grants: readonly Grant[];
};

/** Everything about an account that administrators see or change. */
export type Account = User & {
  readonly kind: "person" | "service";
  readonly hasPassword: boolean;
  readonly disabledAt: Date | null;
  readonly approvedAt: Date | null;
  readonly totpSince: Date | null;
  readonly lastLoginAt: Date | null;
  readonly createdAt: Date;
};

export type NewUser = {
  readonly id: string;
  readonly login: string;
  readonly role: ServerRole;
  readonly passwordHash: string | null;
  readonly createdAt: Date;
  readonly kind?: "person" | "service";
  readonly lastLoginAt?: Date;
  /** Present and null: the account waits, disabled, until somebody approves it. */
  readonly approvedAt?: null;
};

/** What the login looks at. */
export type Credentials = {
  readonly user: User;
  readonly passwordHash: string | null;
  readonly isDisabled: boolean;
  readonly totp: { readonly secret: string; readonly lastStep: number | null } | null;
};

/** Makes changes of accounts wait for each other, so that "at least one owner" can be counted. */
export async function lockUsers(tx: Executor): Promise<void> {
  await tx.execute(sql`lock table ${users} in share row exclusive mode`);
}

/** True once a person is owner; service accounts do not count. */
export async function ownerExists(db: Executor): Promise<boolean> {
  const [row] = await db
    .select({ total: count() })
    .from(users)
    .where(and(eq(users.role, "owner"), eq(users.kind, "person")));
  return (row?.total ?? 0) > 0;
}

/** True when an enabled owner with a local login remains without `id`. */
export async function otherOwnerExists(tx: Executor, id: string): Promise<boolean> {
  const [row] = await tx
    .select({ total: count() })
    .from(users)
    .where(
      and(
        ne(users.id, id),
        eq(users.role, "owner"),
        eq(users.kind, "person"),
        isNull(users.disabledAt),
        isNotNull(users.passwordHash),
      ),
    );
  return (row?.total ?? 0) > 0;
}

export async function insertUser(tx: Executor, user: NewUser): Promise<void> {
  const waits = user.approvedAt === null;
  await tx.insert(users).values({
    ...user,
    approvedAt: waits ? null : user.createdAt,
    disabledAt: waits ? user.createdAt : null,
  });
}

export async function findUser(db: Executor, id: string): Promise<Account | undefined> {
  const [row] = await db.select(accountColumns).from(users).where(eq(users.id, id));
  return row;
}

export async function findCredentials(db: Executor, login: string): Promise<Credentials | undefined> {
  return credentialsWhere(db, eq(sql`lower(${users.login})`, login.toLowerCase()));
}

export async function findCredentialsOf(db: Executor, userId: string): Promise<Credentials | undefined> {
  return credentialsWhere(db, eq(users.id, userId));
}

/**
 * The same, locked until the end of the transaction: what may be done with the credentials that were read cannot race a
 * change of them. The lock of the table comes first, as with `lockUsers`, so that the two never wait for each other.
 */
export async function lockCredentials(tx: Executor, userId: string): Promise<Credentials | undefined> {
  await tx.execute(sql`lock table ${users} in row exclusive mode`);
  await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).for("update");
  return findCredentialsOf(tx, userId);
}

export const usersList: ListTable = {
  table: users,
  id: users.id,
  fields: { login: sortColumn(users.login), createdAt: sortColumn(users.createdAt) },
  filters: { role: equals(users.role) },
  search: [users.login],
};

/** People, or service accounts. */
export async function listUsers(
  db: Executor,
  kind: Account["kind"],
  request: ListRequest,
): Promise<ListedPage<Account>> {
  const page = listPage(usersList, request, eq(users.kind, kind));
  const rows = await db
    .select({ ...accountColumns, listPlace: page.place })
    .from(users)
    .where(page.where)
    .orderBy(...page.orderBy)
    .limit(page.limit);
  return finishPage(db, page, { rows, read: (row: Account) => row });
}

export async function changeUser(
  tx: Executor,
  id: string,
  change: Partial<{
    role: ServerRole;
    grants: Grant[];
    passwordHash: string | null;
    disabledAt: Date | null;
    approvedAt: Date;
    totpSecret: string | null;
    totpSince: Date | null;
    totpLastStep: number | null;
    lastLoginAt: Date;
  }>,
): Promise<void> {
  await tx.update(users).set(change).where(eq(users.id, id));
}

/** Sealed secret that waits for its confirmation. */
export async function pendingTotpSecret(tx: Executor, id: string): Promise<string | undefined> {
  const [row] = await tx
    .select({ secret: users.totpSecret })
    .from(users)
    .where(and(eq(users.id, id), isNull(users.totpSince)));
  return row?.secret ?? undefined;
}

/** Takes a time step for good; false when it, or a later one, was taken before. */
export async function takeTotpStep(tx: Executor, id: string, step: number): Promise<boolean> {
  const taken = await tx
    .update(users)
    .set({ totpLastStep: step })
    .where(and(eq(users.id, id), sql`coalesce(${users.totpLastStep}, -1) < ${step}`))
    .returning({ id: users.id });
  return taken.length > 0;
}

export async function replaceNetworkRoles(tx: Executor, userId: string, roles: readonly NetworkRole[]): Promise<void> {
  await tx.delete(networkRoles).where(eq(networkRoles.userId, userId));
  if (roles.length > 0) await tx.insert(networkRoles).values(roles.map((role) => ({ ...role, userId })));
}

export async function deleteUser(tx: Executor, id: string): Promise<void> {
  await tx.delete(users).where(eq(users.id, id));
}

async function credentialsWhere(db: Executor, where: ReturnType<typeof eq>): Promise<Credentials | undefined> {
  const [row] = await db
    .select({
      user: rightsColumns,
      passwordHash: users.passwordHash,
      disabledAt: users.disabledAt,
      secret: users.totpSecret,
      since: users.totpSince,
      lastStep: users.totpLastStep,
    })
    .from(users)
    .where(where);
  if (!row) return undefined;
  const { user, passwordHash, disabledAt, secret, since, lastStep } = row;
  const totp = secret !== null && since !== null ? { secret, lastStep } : null;
  return { user, passwordHash, isDisabled: disabledAt !== null, totp };
}

/** Columns of an account's rights; every credential is looked up together with them. */
export const rightsColumns = {
  id: users.id,
  login: users.login,
  role: users.role,
  grants: users.grants,
  // Drizzle leaves table names out where a query has one table; inside the subquery they are needed.
  networkRoles: sql<
    NetworkRole[]
  >`(select coalesce(json_agg(json_build_object('networkId', "network_roles"."network_id",
    'role', "network_roles"."role") order by "network_roles"."network_id"), '[]') from "network_roles"
    where "network_roles"."user_id" = "users"."id")`,
};

const accountColumns = {
  ...rightsColumns,
  kind: users.kind,
  hasPassword: sql<boolean>`"users"."password_hash" is not null`,
  disabledAt: users.disabledAt,
  approvedAt: users.approvedAt,
  totpSince: users.totpSince,
  lastLoginAt: users.lastLoginAt,
  createdAt: users.createdAt,
};
