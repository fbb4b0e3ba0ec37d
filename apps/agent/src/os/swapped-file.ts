import {
  lstatSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { err, ok, type Result } from "@weft/protocol";

import { errorCode, readBounded, replaceFile } from "../state/files.ts";
import { isRecord } from "../state/state-store.ts";

/** A file of the system that is ours for a while and then what it was before. */
export type SwappedFile = {
  /** What stood there before us; the present content when we have not written. */
  readonly original: () => string;
  readonly write: (content: string) => Result<undefined, { readonly code: "failed"; readonly message: string }>;
  /** Puts the original back, unless somebody has written there since: then that stays. */
  readonly restore: () => void;
};

type Places = { readonly path: string; readonly backupPath: string };

export function createSwappedFile({ path, backupPath }: Places): SwappedFile {
  return {
    original() {
      const backup = readBackup(backupPath);
      return backup && backup.written === readText(path) ? (backup.content ?? "") : readText(path);
    },
    write(content) {
      const present = readText(path);
      const backup = readBackup(backupPath);
      const isOurs = backup !== null && backup.written === present;
      if (isOurs && present === content) return ok(undefined);
      try {
        const original = isOurs ? backup : describe(path);
        // First the way back, then the change: whenever we are cut off, the way back is there.
        const kept = replaceFile(backupPath, JSON.stringify({ ...original, written: content }));
        if (!kept.ok) return err({ code: "failed", message: kept.error.message });
        putContent(path, content, original.mode);
        return ok(undefined);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return err({ code: "failed", message: `cannot write ${path}: ${reason}` });
      }
    },
    restore() {
      const backup = readBackup(backupPath);
      if (!backup) return;
      try {
        if (readText(path) === backup.written) putBack(path, backup);
        rmSync(backupPath, { force: true });
      } catch {
        // The backup stays: the next start, or the next `weft down`, tries again.
      }
    },
  };
}

type Original = { readonly link: string | null; readonly content: string | null; readonly mode: number };
type Backup = Original & { readonly written: string };

function describe(path: string): Original {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return { link: null, content: null, mode: 0o644 };
  const link = found.isSymbolicLink() ? readlinkSync(path) : null;
  const target = statSync(path, { throwIfNoEntry: false });
  return { link, content: readText(path), mode: (target?.mode ?? 0o644) & 0o777 };
}

function putBack(path: string, { link, content, mode }: Backup): void {
  if (link !== null)
    return replaceBy(
      path,
      (draft) => symlinkSync(link, draft),
      () => putInPlace(path, content ?? ""),
    );
  if (content === null) return rmSync(path, { force: true });
  putContent(path, content, mode);
}

/** In one step where the folder lets us; a file that is mounted can only be written in place. */
function putContent(path: string, content: string, mode: number): void {
  replaceBy(
    path,
    (draft) => writeFileSync(draft, content, { mode, flag: "wx" }),
    () => putInPlace(path, content),
  );
}

function replaceBy(path: string, makeDraft: (draft: string) => void, otherwise: () => void): void {
  const draft = join(dirname(path), `.weft-resolv-${process.pid}`);
  try {
    rmSync(draft, { force: true });
    makeDraft(draft);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    if (!CANNOT_REPLACE.has(errorCode(error))) throw error;
    otherwise();
  }
}

/** Shorter than a page and in one call, so that a reader finds the old content, the new one, or for an instant none. */
function putInPlace(path: string, content: string): void {
  writeFileSync(path, content);
}

function readBackup(path: string): Backup | null {
  const bytes = readBounded(path, BACKUP_BYTES_MAX);
  if (!bytes.ok) return null;
  try {
    const backup: unknown = JSON.parse(bytes.value.toString("utf8"));
    if (!isRecord(backup)) return null;
    const { link, content, mode, written } = backup;
    const isText = (value: unknown): value is string | null => value === null || typeof value === "string";
    if (!isText(link) || !isText(content) || typeof mode !== "number" || typeof written !== "string") return null;
    return { link, content, mode, written };
  } catch {
    return null;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const CANNOT_REPLACE: ReadonlySet<string> = new Set(["EBUSY", "EXDEV", "EROFS", "EACCES", "EPERM"]);
const BACKUP_BYTES_MAX = 1024 * 1024;
