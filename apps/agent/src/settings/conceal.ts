import { readFileSync } from "node:fs";

import {
  concealAdvice,
  type ConcealProfile,
  err,
  formatConcealProblem,
  ok,
  parseAmneziaConf,
  type Result,
} from "@weft/protocol";

import type { TuningError } from "./engine-tuning.ts";

/** How this host disguises its datagrams, and what a person should know about that. */
export type ConcealSetting = { readonly profile: ConcealProfile; readonly advice: readonly string[] };

/**
 * Reads `WEFT_CONCEAL`: a `.conf` file of AmneziaWG, of which only the keys that disguise count; unset = plain WireGuard. Every
 * member of the network needs the same paddings, types and keys.
 */
export function concealSetting(environment: NodeJS.ProcessEnv): Result<ConcealSetting | null, TuningError> {
  const path = environment["WEFT_CONCEAL"] ?? "";
  if (path === "") return ok(null);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return bad(`WEFT_CONCEAL: ${error instanceof Error ? error.message : String(error)}`);
  }
  const conf = parseAmneziaConf(text);
  if (!conf.ok) return bad(`WEFT_CONCEAL: ${path}: ${conf.error.map(formatConcealProblem).join("; ")}`);
  const { profile, warnings } = conf.value;
  return ok({ profile, advice: [...warnings, ...concealAdvice(profile)] });
}

function bad(message: string): Result<never, TuningError> {
  return err({ code: "bad_environment", message });
}
