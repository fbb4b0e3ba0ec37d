import { randomInt } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

import { err, ok, type Result } from "@weft/protocol";

/** Why a file of the state could not be read or written; `message` says what to do. */
export type FileError =
  | { readonly code: "missing"; readonly path: string; readonly message: string }
  | { readonly code: "unreadable"; readonly path: string; readonly message: string }
  | { readonly code: "damaged"; readonly path: string; readonly message: string };

/** Makes the state directory for its owner only. */
export function makeDirectory(path: string): Result<undefined, FileError> {
  return attempt(path, () => {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if ((lstatSync(path).mode & 0o077) !== 0 && isOwn(path)) chmodSync(path, 0o700);
    return undefined;
  });
}

/** Reads a whole file of bounded size. */
export function readBounded(path: string, bytesMax: number): Result<Buffer, FileError> {
  return attempt(path, () => {
    const { size } = lstatSync(path);
    if (size > bytesMax) throw new Error(`${size} bytes, more than the ${bytesMax} it can have`);
    return readFileSync(path);
  });
}

/** Replaces a file in one step: a reader, or a power cut, finds the old content or the new, never a part. Mode 0600. */
export function replaceFile(path: string, content: string | Uint8Array): Result<undefined, FileError> {
  return attempt(path, () => {
    // Nobody can put a link in the way: the name cannot be guessed, and what is already there is not opened.
    const draft = `${path}.new-${randomInt(DRAFTS_MAX)}`;
    const file = openSync(draft, "wx", 0o600);
    try {
      writeWhole(file, content);
      renameSync(draft, path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
    syncDirectory(dirname(path));
    return undefined;
  });
}

/** Writes to the disk and closes, whatever happens. */
function writeWhole(file: number, content: string | Uint8Array): void {
  try {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    for (let offset = 0; offset < bytes.length;) offset += writeSync(file, bytes, offset);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes a file; one that is not there is fine. */
export function removeFile(path: string): Result<undefined, FileError> {
  return attempt(path, () => {
    rmSync(path, { force: true });
    return undefined;
  });
}

function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function isOwn(path: string): boolean {
  return lstatSync(path).uid === process.getuid?.();
}

function attempt<T>(path: string, run: () => T): Result<T, FileError> {
  try {
    return ok(run());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (errorCode(error) === "ENOENT") return err({ code: "missing", path, message: `${path} does not exist` });
    return err({ code: "unreadable", path, message: `cannot use ${path}: ${reason}` });
  }
}

/** The system's name of an error, such as `ENOENT`; empty for other errors. */
export function errorCode(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "";
}

/** Digits only: the uninstallation knows left drafts by them. */
const DRAFTS_MAX = 2 ** 47;
