import { and, gt, isNull, sql } from "drizzle-orm";
import type { Executor } from "./client.ts";
import { instance, users } from "./schema/index.ts";

export type InstanceSecrets = { readonly serverPrivateKey: string | null; readonly cursorKey: string };

/** Secrets of the whole installation; `fresh` is kept when there are none yet, whoever comes first. */
export async function keepInstanceSecrets(db: Executor, fresh: InstanceSecrets): Promise<InstanceSecrets> {
  await db.insert(instance).values(fresh).onConflictDoNothing();
  const [row] = await db.select().from(instance);
  if (!row) throw new Error("the row was just made");
  return row;
}

/** Keeps a server key in the database when it has none; returns the one that counts. */
export async function keepServerKey(db: Executor, fresh: string): Promise<string> {
  await db.update(instance).set({ serverPrivateKey: fresh }).where(isNull(instance.serverPrivateKey));
  const [row] = await db.select({ key: instance.serverPrivateKey }).from(instance);
  if (!row?.key) throw new Error("the key was just kept");
  return row.key;
}

/** Puts another server key in the place of the database's own; none when the key is kept elsewhere. */
export async function replaceServerKey(db: Executor, key: string | null): Promise<void> {
  await db.update(instance).set({ serverPrivateKey: key });
}

/** Drops the row of the installation, for the one that a backup brings. */
export async function forgetInstance(db: Executor): Promise<void> {
  await db.delete(instance);
}

/** Opens the bootstrap at the first start with a token, on a server without accounts; later starts change nothing. */
export async function openBootstrap(db: Executor, until: Date): Promise<void> {
  await db
    .update(instance)
    .set({ bootstrapUntil: until })
    .where(and(isNull(instance.bootstrapUntil), NOBODY));
}

/**
 * Spends the bootstrap; false when there is none, or it was spent, or its time is over, or somebody has an account.
 * Of parallel attempts one gets it. The accounts are locked.
 */
export async function takeBootstrap(tx: Executor, now: Date): Promise<boolean> {
  const taken = await tx
    .update(instance)
    .set({ bootstrapUsedAt: now })
    .where(and(isNull(instance.bootstrapUsedAt), gt(instance.bootstrapUntil, now), NOBODY))
    .returning({ only: instance.only });
  return taken.length > 0;
}

const NOBODY = sql`not exists (select 1 from ${users})`;
