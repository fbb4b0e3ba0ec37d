import { pino, stdSerializers } from "pino";
import type { DestinationStream, LogFn, Logger } from "pino";

/** The server's log: one JSON object per line. */
export function createLog(level: string, sink?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: withoutValues },
    hooks: { logMethod },
  };
  return sink ? pino(options, sink) : pino(options);
}

/** Without a message of its own a line would get the error's, values and all. */
function logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn): void {
  const [first, ...rest] = args;
  const error: unknown = typeof first === "object" && first !== null && "err" in first ? first.err : undefined;
  if (rest.length === 0 && error instanceof Error) method.call(this, first, messageForLog(error));
  else method.apply(this, args);
}

/** An error's message as it may be logged: a failed statement without the values it was sent with. */
export function messageForLog(error: Error): string {
  return error.message.replace(VALUES, "");
}

/** What a statement carried can be a key or the hash of a password. */
function withoutValues(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { params: _values, ...shown }: Record<string, unknown> = { ...stdSerializers.err(error) };
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [name, typeof value === "string" ? value.replace(VALUES, "") : value]),
  );
}

/** Drizzle puts the values behind the statement, on lines of their own, up to where the stack begins. */
const VALUES = /\nparams: [\s\S]*?(?=\n {4}at |\ncaused by: |$(?![\s\S]))/g;
