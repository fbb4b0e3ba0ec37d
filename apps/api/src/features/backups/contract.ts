import { z } from "zod";
import { BackupIdSchema, listOutput, TimeSchema, UserIdSchema } from "../../registry/common-schemas.ts";
import { mutation, NoInput, NoOutput, query } from "../../registry/contract-kit.ts";
import { listFields, listSpec } from "../../registry/list-kit.ts";

const BackupSchema = z
  .strictObject({
    id: BackupIdSchema,
    version: z.string().describe("Release that took it."),
    bytes: z.int(),
    sha256: z.string().describe("Of the file, hex."),
    rows: z.int(),
    verifiedAt: TimeSchema.nullable().describe("When it was last loaded whole, as a proof, and thrown away again."),
    createdBy: UserIdSchema.nullable(),
    createdAt: TimeSchema,
  })
  .meta({ id: "Backup" });

export const backupsSpec = listSpec({
  name: "backups",
  orders: ["-createdAt", "createdAt"],
  filters: { since: TimeSchema.describe("From this moment on."), until: TimeSchema.describe("Before this moment.") },
});

const access = { kind: "role", role: "admin", scope: "backups:write" } as const;
const reading = { kind: "role", role: "admin", scope: "backups:read" } as const;
const byId = z.strictObject({ backupId: BackupIdSchema });

export const backupsContract = {
  list: query({
    summary: "Lists the backups that lie on the server",
    rest: { method: "GET", path: "/backups", status: 200 },
    access: reading,
    list: backupsSpec,
    input: z.strictObject(listFields(backupsSpec)).prefault({}),
    output: listOutput(BackupSchema),
  }),
  get: query({
    summary: "Shows one backup",
    rest: { method: "GET", path: "/backups/{backupId}", status: 200 },
    access: reading,
    input: byId,
    output: BackupSchema,
  }),
  create: mutation({
    summary: "Takes a backup of everything, without a stop. It holds secrets: keep it like the server's disk",
    rest: { method: "POST", path: "/backups", status: 201, location: "/backups/{id}" },
    access,
    input: NoInput,
    output: BackupSchema,
  }),
  verify: mutation({
    summary: "Proves that a backup can be restored: loads all of it beside the live data, compares, and throws it away",
    rest: { method: "POST", path: "/backups/{backupId}/verify", status: 200 },
    access,
    input: byId,
    output: BackupSchema,
  }),
  download: query({
    summary: "Sends the file of a backup; `weft-server restore FILE` fills an empty server from it",
    rest: { method: "GET", path: "/backups/{backupId}/content", status: 200, download: "application/gzip" },
    access: { kind: "role", role: "owner", scope: "backups:read" },
    input: byId,
    output: z.strictObject({ path: z.string(), fileName: z.string(), bytes: z.int() }),
  }),
  remove: mutation({
    summary: "Removes a backup and its file",
    rest: { method: "DELETE", path: "/backups/{backupId}", status: 204 },
    access,
    input: byId,
    output: NoOutput,
  }),
};
