/** A failed command: the code decides the exit code, the message is for the person. */
export type CliFailure = { readonly code: string; readonly message: string };

export type OutputFormat = "text" | "json";

/** Where a command prints. With "json", standard output gets exactly one object. */
export type Output = {
  readonly format: OutputFormat;
  /** A line for the person; nothing with "json". */
  readonly line: (text: string) => void;
  /** The outcome: the object with "json", the lines otherwise. */
  readonly result: (value: object, lines: readonly string[]) => void;
  readonly failure: (failure: CliFailure) => void;
};

export type Streams = { readonly out: (text: string) => void; readonly err: (text: string) => void };

export function createOutput(format: OutputFormat, streams: Streams): Output {
  return {
    format,
    line(text) {
      if (format === "text") streams.out(`${text}\n`);
    },
    result(value, lines) {
      if (format === "json") streams.out(`${JSON.stringify(value)}\n`);
      else for (const line of lines) streams.out(`${line}\n`);
    },
    failure({ code, message }) {
      if (format === "json") streams.out(`${JSON.stringify({ error: { code, message } })}\n`);
      else streams.err(`weft: ${message}\n`);
    },
  };
}

/** Rows with columns of equal width. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  "),
  );
}

/** `1.5 MiB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}

/** `2 h 5 min`; the two largest units. */
export function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return "0 s";
  const shown = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(" ");
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
