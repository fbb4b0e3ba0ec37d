import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type postgres from "postgres";
import { z } from "zod";

/** Why a database cannot be used by this release; the message says what to do. */
class MigrationRefused extends Error {
  override readonly name = "MigrationRefused";
}

/** One file of the migrations folder. */
export type Migration = { readonly index: number; readonly tag: string; readonly hash: string; readonly sql: string };

/**
 * Brings the database to this release's schema, all missing steps in one transaction under a lock.
 *
 * @throws MigrationRefused when the schema is newer, was changed by hand, or carries an unfinished step.
 */
export async function migrate(
  sql: postgres.Sql,
  folder = MIGRATIONS_FOLDER,
  /** Stops behind that many steps; all when left out. A database that has more keeps them. */
  upTo: { readonly steps: number } = { steps: Number.POSITIVE_INFINITY },
): Promise<{ readonly applied: number }> {
  const known = await readMigrations(folder);
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCK_NUMBER})`;
    await refuseForeignDatabase(tx);
    await tx.unsafe(JOURNAL_TABLE);
    const done = await tx<JournalRow[]>`
      select index, tag, hash, finished_at from weft_migrations order by index`;
    refuseMismatch(known, done);
    const missing = known.slice(done.length, Math.max(done.length, upTo.steps));
    for (const step of missing) {
      await tx.unsafe(step.sql);
      await tx`insert into weft_migrations (index, tag, hash, finished_at)
        values (${step.index}, ${step.tag}, ${step.hash}, clock_timestamp())`;
    }
    return { applied: missing.length };
  });
}

/** Reads the folder that drizzle-kit writes, in order. */
export async function readMigrations(folder = MIGRATIONS_FOLDER): Promise<readonly Migration[]> {
  const journal = JournalSchema.parse(JSON.parse(await readFile(join(folder, "meta/_journal.json"), "utf8")));
  return Promise.all(
    journal.entries.map(async ({ idx, tag }) => {
      const text = await readFile(join(folder, `${tag}.sql`), "utf8");
      return { index: idx, tag, hash: createHash("sha256").update(text).digest("hex"), sql: text };
    }),
  );
}

function refuseMismatch(known: readonly Migration[], done: readonly JournalRow[]): void {
  for (const [place, row] of done.entries()) {
    if (!row.finished_at) {
      throw new MigrationRefused(
        `migration ${row.tag} was started but not finished; restore the backup made before the upgrade, ` +
          `or finish the step by hand and set its finished_at in weft_migrations`,
      );
    }
    const step = known.at(place);
    if (!step) {
      throw new MigrationRefused(
        `the database has migration ${row.tag}, which this release does not know: it was made by a newer release; ` +
          `start that release, or restore a backup made before the upgrade`,
      );
    }
    if (step.index !== row.index || step.tag !== row.tag || step.hash !== row.hash) {
      throw new MigrationRefused(
        `migration ${row.tag} in the database differs from this release's ${step.tag}; ` +
          `the database belongs to another build, or a step was removed from weft_migrations`,
      );
    }
  }
}

/** A database that has tables but no journal is somebody else's. */
async function refuseForeignDatabase(tx: postgres.TransactionSql): Promise<void> {
  const [found] = await tx<{ tables: number; journal: boolean }[]>`
    select count(*)::int as tables, coalesce(bool_or(tablename = 'weft_migrations'), false) as journal
    from pg_tables where schemaname = 'public'`;
  if (!found || found.journal || found.tables === 0) return;
  throw new MigrationRefused(
    `the database has ${found.tables} tables but no weft_migrations: it is not empty and not weft's; give weft a database of its own`,
  );
}

type JournalRow = { index: number; tag: string; hash: string; finished_at: Date | null };

const JournalSchema = z.object({ entries: z.array(z.object({ idx: z.int(), tag: z.string().regex(/^[\w-]+$/) })) });

/** Beside `src` and `dist`, so that both find it. */
export const MIGRATIONS_FOLDER = join(import.meta.dirname, "../../migrations");

/** "weft" as a number; every replica takes the same lock. */
const LOCK_NUMBER = 2_003_134_068;

const JOURNAL_TABLE = `
  create table if not exists weft_migrations (
    index integer primary key,
    tag text not null,
    hash text not null,
    started_at timestamptz not null default clock_timestamp(),
    finished_at timestamptz
  )`;
