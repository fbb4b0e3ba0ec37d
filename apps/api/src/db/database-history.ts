import { sql } from "drizzle-orm";
import type { RandomBytes } from "@weft/protocol";
import { makeEpoch } from "../domain/new-network.ts";
import type { Executor } from "./client.ts";
import { allNetworks, renewEpoch } from "./networks-repository.ts";
import { instance } from "./schema/index.ts";

/**
 * Starts new epochs when the database may be an older one than agents know: a restored backup counts on from where it is,
 * and would give sequences that agents have seen with other content.
 *
 * The mark that is kept holds when this PostgreSQL was started, which database it is, and the transaction that wrote the mark.
 * A restored copy of files needs a start; a restored dump writes the row anew, in another transaction.
 */
export async function renewLostHistory(db: Executor, random: RandomBytes): Promise<"same" | "renewed"> {
  return db.transaction(async (tx) => {
    const [found] = await tx
      .select({ kept: instance.historyMark, now: markOf(sql`xmin::text`) })
      .from(instance)
      .for("update");
    if (found?.kept === found?.now) return "same";
    const written = markOf(sql`(txid_current() % 4294967296)::text`);
    await tx.update(instance).set({ historyMark: written });
    for (const { id } of await allNetworks(tx)) await renewEpoch(tx, id, makeEpoch(random));
    return "renewed";
  });
}

function markOf(transaction: ReturnType<typeof sql>) {
  return sql<string>`concat_ws('/',
    (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint,
    (select oid from pg_database where datname = current_database()),
    ${transaction})`;
}
