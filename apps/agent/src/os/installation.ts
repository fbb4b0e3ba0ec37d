import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

import { isRecord } from "../state/state-store.ts";

/** What the install script put on this host; the script writes it, `weft uninstall` takes it back. */
export type InstallRecord = {
  /** Folder that holds the program and nothing else. */
  readonly prefix: string;
  readonly stateDirectory: string;
  /** Link in the search path; `null` when none was made. */
  readonly link: string | null;
  /** Unit file of the service that keeps the daemon running; `null` when the daemon runs by itself. */
  readonly unit: string | null;
};

/** How this program got here. */
export type Installation = {
  /** The script that starts it. */
  readonly program: string;
  /** `null` for a program that runs from a clone. */
  readonly record: InstallRecord | null;
};

/** Looks for the install script's record beside the folder of the program. */
export function readInstallation(program: string): Installation {
  const prefix = dirname(dirname(program));
  try {
    const record = parseRecord(JSON.parse(readFileSync(join(prefix, RECORD_NAME), "utf8")));
    // A copy of the folder was not put there by the script.
    return { program, record: record?.prefix === prefix ? record : null };
  } catch {
    return { program, record: null };
  }
}

function parseRecord(value: unknown): InstallRecord | null {
  if (!isRecord(value) || value["version"] !== 1) return null;
  const { prefix, stateDirectory, link, unit } = value;
  if (!isPath(prefix) || !isPath(stateDirectory)) return null;
  if ((link !== null && !isPath(link)) || (unit !== null && !isPath(unit))) return null;
  return { prefix, stateDirectory, link, unit };
}

function isPath(value: unknown): value is string {
  return typeof value === "string" && isAbsolute(value);
}

/** Name of the record in the prefix. */
const RECORD_NAME = "install.json";
