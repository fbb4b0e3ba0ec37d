import { err, ok } from "@weft/protocol";

import type { ProfileFormat } from "../../daemon/profiling.ts";
import type { LocalRequest } from "../../daemon/local-protocol.ts";
import { replaceFile } from "../../state/files.ts";
import { isRecord } from "../../state/state-store.ts";
import { askMember } from "../ask-member.ts";
import { whyNoFile } from "../output-file.ts";
import type { CommandContext, CommandOutcome } from "../context.ts";
import { EXIT_CODES } from "../exit-codes.ts";

export type ProfileCommand = {
  readonly action: "run" | "start" | "stop";
  readonly seconds: number;
  readonly frequencyHz: number;
  readonly format: ProfileFormat;
  /** Where the profile goes; `null` = standard output. */
  readonly file: string | null;
};

/** Records where the agent's processor time goes. */
export async function profile(context: CommandContext, command: ProfileCommand): Promise<CommandOutcome> {
  const { output, paths } = context;
  const { action, file, format } = command;
  if (action !== "start" && format === "pprof" && file === null && output.format === "text")
    return err({ code: "usage", message: "pprof is no text; say where it goes with --output FILE" });
  const obstacle = file === null ? undefined : whyNoFile(file);
  if (obstacle) return err(obstacle);
  const asked = await askMember(paths, requestOf(command));
  if (!asked.ok) return asked;
  if (action === "start") {
    output.result({ started: true }, ['recording; "weft profile stop" ends it, at the latest two minutes do']);
    return ok(EXIT_CODES.ok);
  }
  const report = asked.value;
  if (!isRecord(report) || typeof report["data"] !== "string")
    return err({ code: "failed", message: "the daemon is of another version; restart it" });
  const { data, ...facts } = report;
  if (file === null) {
    output.result(report, [data.trimEnd()]);
    return ok(EXIT_CODES.ok);
  }
  const written = replaceFile(file, format === "folded" ? data : Buffer.from(data, "base64"));
  if (!written.ok) return err({ code: "failed", message: written.error.message });
  output.result({ ...facts, file }, summaryLines(facts, file));
  return ok(EXIT_CODES.ok);
}

function requestOf({ action, seconds, frequencyHz, format }: ProfileCommand): LocalRequest {
  switch (action) {
    case "start":
      return { method: "profileStart", frequencyHz };
    case "stop":
      return { method: "profileStop", format };
    case "run":
      return { method: "profileRun", seconds, frequencyHz, format };
  }
}

function summaryLines(facts: { readonly [name: string]: unknown }, file: string): string[] {
  const { samples, durationMs, method, reason, lost } = facts;
  const seconds = typeof durationMs === "number" ? (durationMs / 1000).toFixed(1) : "?";
  return [
    `${samples} samples of ${seconds} s in ${file}`,
    ...(typeof reason === "string" ? [`reduced to "${method}": ${reason}`] : []),
    ...(typeof lost === "number" && lost > 0 ? [`${lost} samples were lost`] : []),
  ];
}
