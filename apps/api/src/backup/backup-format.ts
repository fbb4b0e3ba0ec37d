import { z } from "zod";

/**
 * A backup is gzip over lines of text. The first letter of a line says what it is: `H` header, `T` name of a table, `R` one
 * row of it as JSON, `E` the end with counts and digests. Rows are JSON, not files of one PostgreSQL: a backup of the
 * embedded database goes into an external one and back.
 */
export const BACKUP_FORMAT = 1;

export const HeaderSchema = z.strictObject({
  format: z.literal(BACKUP_FORMAT),
  version: z.string(),
  takenAt: z.iso.datetime(),
  /** Schema that the rows belong to. */
  migrations: z.array(z.strictObject({ index: z.int(), tag: z.string(), hash: z.string() })),
  /** In an order in which rows never refer to later ones. */
  tables: z.array(z.string().regex(/^[a-z_]{1,63}$/)),
  /** The key that agents pin, in PEM: without it no agent would believe the restored server. */
  serverPrivateKey: z.string(),
});
export type BackupHeader = z.output<typeof HeaderSchema>;

const TableDigest = z.strictObject({ rows: z.int(), sha256: z.string() });

/** The whole map of one node of a network, as the server would send it. */
const SampleSchema = z.strictObject({ networkId: z.string(), peerId: z.string(), sha256: z.string() });
export type MapSample = z.output<typeof SampleSchema>;

export const EndSchema = z.strictObject({
  tables: z.record(z.string(), TableDigest),
  samples: z.array(SampleSchema),
  /** SHA-256 over all lines before this one. */
  sha256: z.string(),
});
export type BackupEnd = z.output<typeof EndSchema>;

/** Why a file is no good backup; the message says what to do. */
export class BackupFault extends Error {
  override readonly name = "BackupFault";
}

/** What changes by itself, is rebuilt, or belongs to one server only. */
export const LEFT_OUT: readonly string[] = [
  "weft_migrations",
  "network_changes",
  "idempotent_answers",
  "backups",
  "jobs",
  "flow_records",
  // What was given out once must not be given out again by a server that was restored.
  "client_links",
];
