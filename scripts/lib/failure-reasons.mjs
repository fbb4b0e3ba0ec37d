// What is printed under the name of a failed test, so that the output of a run explains itself.
import { stripVTControlCharacters } from "node:util";

/** Most lines of one reason. */
const LINES_MAX = 12;
const MESSAGE_LINES_MAX = 8;
const FRAMES_MAX = 4;

/** A failure as it is printed: its name, then its reason, indented. */
export function formatFailure({ name, reason }) {
  return [name, ...reason.map((line) => `      ${line}`)].join("\n");
}

/** The reason that an error of JavaScript gives: its message and the first places of its stack. */
export function reasonOfError(error) {
  const cause = error?.cause?.stack ? error.cause : error;
  const message = stripVTControlCharacters(String(cause?.message ?? cause)).trimEnd();
  const frames = stripVTControlCharacters(cause?.stack ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("at ") && !/node:internal|node_modules|\(<anonymous>\)/.test(line));
  return cut(message.split("\n"), frames.slice(0, FRAMES_MAX));
}

/** The reason a runner's error carries its places in: `stacks` as Vitest parses them, and a diff of what was compared. */
export function reasonOfVitestError({ message, diff, stacks = [] }) {
  const compared = diff ? stripVTControlCharacters(diff).trim().split("\n") : [];
  const frames = stacks.map(
    ({ file, line, column, method }) => `at ${method ? `${method} ` : ""}${file}:${line}:${column}`,
  );
  return cut(
    [
      ...stripVTControlCharacters(message ?? "")
        .trimEnd()
        .split("\n"),
      ...compared,
    ],
    frames.slice(0, FRAMES_MAX),
  );
}

/** Failed tests in the output of `cargo test`, each with what it panicked with. */
export function rustFailures(output) {
  const failures = [];
  let open;
  let listing = false;
  for (const line of output.split("\n")) {
    const start = /^---- (.+) stdout ----$/.exec(line);
    if (line === "successes:") listing = false;
    else if (line === "failures:") listing = true;
    if (start) open = listing ? { name: start[1], lines: [] } : undefined;
    else if (/^(successes:|failures:|test result: )/.test(line)) open = undefined;
    else open?.lines.push(line);
    if (start && open) failures.push(open);
  }
  return failures.map(({ name, lines }) => ({ name, reason: fromFirst(lines, /panicked at|^error|^Error/) }));
}

/** Why a runner ended that counted no failure: from its first error on, or the last lines it printed. */
export function reasonOfOutput(output) {
  const lines = stripVTControlCharacters(output).trimEnd().split("\n");
  return lines.some((line) => FIRST_ERROR.test(line)) ? fromFirst(lines, FIRST_ERROR) : lines.slice(-LINES_MAX);
}

const FIRST_ERROR = /^\s*(error\b|Error:|\w*Error:|fatal)/;

/** The lines from the first that matches; all where none does. */
function fromFirst(lines, pattern) {
  const at = Math.max(
    0,
    lines.findIndex((line) => pattern.test(line)),
  );
  return cut(
    lines.slice(at).filter((line) => line.trim() !== "" && !line.startsWith("note: run with `RUST_BACKTRACE")),
    [],
  );
}

/** Keeps the places, which a long message must not push out. */
function cut(message, frames) {
  const room = frames.length > 0 ? MESSAGE_LINES_MAX : LINES_MAX;
  const shown =
    message.length > room ? [...message.slice(0, room - 1), `… ${message.length - room + 1} more lines`] : message;
  return [...shown, ...frames];
}
