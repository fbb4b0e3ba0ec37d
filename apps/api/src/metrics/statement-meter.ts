import { metricFamily, metricSample } from "@weft/protocol";

/** Counts statements by what they do, so that anybody can see whether an idle network leaves the database alone. */
export type StatementMeter = {
  readonly note: (statement: string) => void;
  readonly text: () => readonly string[];
};

export function createStatementMeter(): StatementMeter {
  const counts = { read: 0, write: 0 };
  return {
    note(statement) {
      counts[isWrite(statement) ? "write" : "read"] += 1;
    },
    text: () =>
      metricFamily(
        "weft_server_statements_total",
        { help: "Statements to the database; a write inserts, updates or deletes.", type: "counter" },
        Object.entries(counts).map(([kind, count]) => metricSample({ kind }, count)),
      ),
  };
}

/** A statement that begins with a named subquery may write in it. */
export function isWrite(statement: string): boolean {
  return WRITES.test(statement) || (/^\s*with\b/i.test(statement) && WRITES_WITHIN.test(statement));
}

const WRITES = /^\s*(insert|update|delete|merge|truncate)\b/i;
const WRITES_WITHIN = /\b(insert\s+into|update\s+"?\w|delete\s+from|merge\s+into)/i;
