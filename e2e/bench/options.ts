import { parseArgs } from "node:util";

/** What can be measured; `bars` is everything that a bar needs, in one run. */
export const SUITES = [
  "tunnel",
  "latency",
  "handshake",
  "offload",
  "shards",
  "memory",
  "hostile",
  "soak",
  "control-plane",
  "bars",
] as const;
export type Suite = (typeof SUITES)[number];

export type BenchOptions = {
  readonly suite: Suite;
  readonly output: "json" | "table";
  /** Empty: all. */
  readonly cases: readonly string[];
  /** Empty: all. */
  readonly contenders: readonly string[];
  readonly rounds: number;
  readonly seconds: number;
};

export type OptionsError = { readonly code: "usage"; readonly message: string };

/** Reads the command line of the bench. */
export function parseOptions(
  argv: readonly string[],
): { readonly ok: true; readonly value: BenchOptions } | { readonly ok: false; readonly error: OptionsError } {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        json: { type: "boolean", default: false },
        case: { type: "string", multiple: true, default: [] },
        contender: { type: "string", multiple: true, default: [] },
        rounds: { type: "string" },
        seconds: { type: "string" },
      },
    });
    const suite = SUITES.find((name) => name === positionals[0]);
    if (suite === undefined || positionals.length !== 1) return refuse(`name one suite: ${SUITES.join(", ")}`);
    if (suite === "bars" && values.case.length + values.contender.length > 0)
      return refuse("the suite bars measures what the bars need and takes no --case and no --contender");
    const usual = USUAL[suite];
    const rounds = positiveInteger(values.rounds ?? String(usual.rounds));
    const seconds = positiveInteger(values.seconds ?? String(usual.seconds));
    if (rounds === undefined) return refuse(`--rounds must be a whole number from 1, not "${values.rounds ?? ""}"`);
    if (seconds === undefined) return refuse(`--seconds must be a whole number from 1, not "${values.seconds ?? ""}"`);
    const output = values.json ? "json" : "table";
    return { ok: true, value: { suite, output, cases: values.case, contenders: values.contender, rounds, seconds } };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

/** Whether a name was asked for; an empty list asks for all. */
export function isWanted(name: string, wanted: readonly string[]): boolean {
  return wanted.length === 0 || wanted.includes(name);
}

function refuse(message: string): { readonly ok: false; readonly error: OptionsError } {
  return { ok: false, error: { code: "usage", message: `${message}\n${USAGE}` } };
}

function positiveInteger(text: string): number | undefined {
  return /^[1-9]\d{0,3}$/.test(text) ? Number.parseInt(text, 10) : undefined;
}

/** Rounds and seconds per measurement where the command line says nothing. */
const USUAL: Readonly<Record<Suite, { readonly rounds: number; readonly seconds: number }>> = {
  tunnel: { rounds: 3, seconds: 5 },
  latency: { rounds: 3, seconds: 5 },
  handshake: { rounds: 3, seconds: 5 },
  offload: { rounds: 1, seconds: 2 },
  shards: { rounds: 3, seconds: 3 },
  memory: { rounds: 3, seconds: 5 },
  hostile: { rounds: 3, seconds: 5 },
  soak: { rounds: 1, seconds: 600 },
  "control-plane": { rounds: 3, seconds: 20 },
  bars: { rounds: 5, seconds: 4 },
};
const USAGE = "usage: npm run bench -- SUITE [--json] [--case NAME]… [--contender NAME]… [--rounds N] [--seconds N]";
