import { readBounded, replaceFile } from "./files.ts";
import type { FileError } from "./files.ts";
import type { Result } from "@weft/protocol";

/** What was changed on a host, to be undone by whoever comes next. */
export type RoadTraces = {
  /** Settings of the kernel hold until the host boots. */
  readonly bootId: string;
  readonly interfaceName: string;
  /** Lines that `ip rule add` was given, with their family. */
  readonly rules: readonly (readonly [family: 4 | 6, line: string])[];
  /** Values from before, in the order in which they have to be written. */
  readonly settings: readonly (readonly [path: string, value: string])[];
};

export function saveRoadFile(path: string, traces: RoadTraces): Result<undefined, FileError> {
  return replaceFile(path, `${JSON.stringify({ version: 1, ...traces })}\n`);
}

/** What an earlier process left; null when there is nothing, or nothing that can be read. */
export function loadRoadFile(path: string): RoadTraces | null {
  const content = readBounded(path, FILE_BYTES_MAX);
  return content.ok ? tracesFrom(parse(content.value.toString("utf8"))) : null;
}

function tracesFrom(record: unknown): RoadTraces | null {
  if (typeof record !== "object" || record === null || !("version" in record) || record.version !== 1) return null;
  if (!("bootId" in record) || !("interfaceName" in record) || !("rules" in record) || !("settings" in record))
    return null;
  const { bootId, interfaceName } = record;
  if (typeof bootId !== "string" || typeof interfaceName !== "string" || !INTERFACE.test(interfaceName)) return null;
  const rules = pairsOf(record.rules).flatMap(([family, line]): RoadTraces["rules"] =>
    (family === 4 || family === 6) && RULE.test(line) ? [[family, line]] : [],
  );
  const settings = pairsOf(record.settings).flatMap(([path, value]): RoadTraces["settings"] =>
    typeof path === "string" && SETTING.test(path) && /^-?\d+$/.test(value) ? [[path, value]] : [],
  );
  return { bootId, interfaceName, rules, settings };
}

function pairsOf(value: unknown): (readonly [unknown, string])[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((pair: unknown): (readonly [unknown, string])[] => {
    if (!Array.isArray(pair)) return [];
    const [left, right]: readonly unknown[] = pair;
    return typeof right === "string" ? [[left, right]] : [];
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const FILE_BYTES_MAX = 1024 * 1024;
const INTERFACE = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,14}$/;
/** Only what this program writes; the file decides about no other words of a command. */
const RULE = /^priority \d+( [a-z_]+ [0-9a-fA-F.:/a-z_]+)+$/;
const SETTING = /^net\/ipv[46]\/[A-Za-z0-9_.@/-]+$/;
