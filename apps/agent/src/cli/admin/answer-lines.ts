import { isRecord } from "../../state/state-store.ts";
import { table } from "../output.ts";

/** An answer of the API for a person: a list as a table, an object as lines. */
export function answerLines(answer: unknown): string[] {
  if (answer === undefined) return ["done"];
  if (!isRecord(answer)) return [cell(answer)];
  const { items, nextCursor, total } = answer;
  if (!Array.isArray(items)) return objectLines(answer);
  const rows = items.filter(isRecord);
  if (rows.length === 0) return ["nothing"];
  const columns = columnsOf(rows);
  return [
    ...table([columns, ...rows.map((row) => columns.map((column) => cell(row[column])))]),
    ...(typeof nextCursor === "string" ? [`more follow: --cursor ${nextCursor}, or --all`] : []),
    ...(typeof total === "number" ? [`${total} in all`] : []),
  ];
}

/** Short values of the rows; what is long is seen with --json. */
function columnsOf(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  const [first = {}] = rows;
  return Object.keys(first)
    .filter((name) => rows.every((row) => !isRecord(row[name])))
    .slice(0, COLUMNS_MAX);
}

function objectLines(value: Readonly<Record<string, unknown>>, indent = ""): string[] {
  return Object.entries(value).flatMap(([name, inner]) =>
    isRecord(inner)
      ? [`${indent}${name}:`, ...objectLines(inner, `${indent}  `)]
      : [`${indent}${name}: ${cell(inner)}`],
  );
}

/** Text of others must not move the cursor of a terminal. */
export function cell(value: unknown): string {
  const text = typeof value === "string" ? value : value === null || value === undefined ? "-" : JSON.stringify(value);
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "�");
}

const COLUMNS_MAX = 8;
