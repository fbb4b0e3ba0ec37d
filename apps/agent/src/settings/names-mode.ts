import { err, ok, type Result } from "@weft/protocol";

import type { TuningError } from "./engine-tuning.ts";

/** "auto": names are answered and the host asks for them; "answer": they are answered; "off": neither. */
export type NamesMode = "auto" | "answer" | "off";

/** Reads WEFT_DNS. */
export function namesMode(environment: NodeJS.ProcessEnv): Result<NamesMode, TuningError> {
  const text = environment["WEFT_DNS"] ?? "auto";
  if (text === "" || text === "auto") return ok("auto");
  if (text === "answer" || text === "off") return ok(text);
  return err({ code: "bad_environment", message: `WEFT_DNS is "${text.slice(0, 40)}"; it can be auto, answer or off` });
}
