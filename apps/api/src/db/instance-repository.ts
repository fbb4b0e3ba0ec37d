import { isNull } from "drizzle-orm";
import type { Executor } from "./client.ts";
import { instance } from "./schema/index.ts";

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
