import type { Database } from "../db/client.ts";
import { eventually } from "./simulated-agent.ts";

/** Waits until some statement in this database waits for a lock that somebody else holds. */
export async function untilBlocked({ sql }: Pick<Database, "sql">): Promise<void> {
  await eventually(
    "a statement that waits for a lock",
    async () => {
      const waiting = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0 || undefined;
    },
    30_000,
  );
}
