import { readFileSync, writeFileSync } from "node:fs";

import type { Client, Operations } from "@weft/client";
import { err, ok, type Result } from "@weft/protocol";

import type { CommandContext, CommandOutcome } from "../context.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import type { CliFailure } from "../output.ts";
import { planLines, secretLines } from "./plan-lines.ts";
import { clientOf, failureOf } from "./run-admin.ts";

export type ConfigFlags = {
  readonly json?: boolean;
  readonly server?: string;
  readonly tokenFile?: string;
  readonly format?: "yaml" | "json";
  readonly output?: string;
  readonly prune?: boolean;
  readonly skipAbsentPeers?: boolean;
  readonly tag?: string;
  readonly yes?: boolean;
};

type FileInput = Operations["configuration.plan"]["input"];
type Plan = Operations["configuration.plan"]["output"];

/** Prints the configuration, or writes it to a file. */
export async function exportConfig(context: CommandContext, flags: ConfigFlags): Promise<CommandOutcome> {
  const client = clientOf(flags);
  if (!client.ok) return client;
  const answer = await client.value.call("configuration.export", { format: flags.format ?? "yaml" });
  if (!answer.ok) return err(failureOf(answer.error));
  const { content } = answer.value;
  if (flags.output === undefined) {
    context.output.result(answer.value, [content.replace(/\n$/, "")]);
    return ok(EXIT_CODES.ok);
  }
  try {
    writeFileSync(flags.output, content);
  } catch (error) {
    return err({ code: "failed", message: `cannot write ${flags.output}: ${reasonOf(error)}` });
  }
  const bytes = Buffer.byteLength(content);
  context.output.result({ file: flags.output, bytes }, [`wrote ${flags.output} (${bytes} bytes)`]);
  return ok(EXIT_CODES.ok);
}

/** Shows what a file would do. */
export async function planConfig(context: CommandContext, file: string, flags: ConfigFlags): Promise<CommandOutcome> {
  const client = clientOf(flags);
  if (!client.ok) return client;
  const input = fileInput(file, flags);
  if (!input.ok) return input;
  const plan = await planOf(client.value, input.value);
  if (!plan.ok) return plan;
  context.output.result(plan.value, planLines(plan.value));
  return ok(PLAN_CODES[plan.value.verdict]);
}

const PLAN_CODES = { nothing: EXIT_CODES.ok, changes: EXIT_CODES.differs, faulty: EXIT_CODES.refused } as const;

/** Does what a file says, after somebody has seen what that is. */
export async function applyConfig(context: CommandContext, file: string, flags: ConfigFlags): Promise<CommandOutcome> {
  const client = clientOf(flags);
  if (!client.ok) return client;
  const input = fileInput(file, flags);
  if (!input.ok) return input;
  const tag =
    flags.tag === undefined ? await agreedTag(context, client.value, { input: input.value, flags }) : ok(flags.tag);
  if (!tag.ok) return tag;
  if (tag.value === null) {
    context.output.result({ counts: NOTHING, changes: [], secrets: [] }, ["nothing to do"]);
    return ok(EXIT_CODES.ok);
  }
  const done = await client.value.call("configuration.apply", { ...input.value, tag: tag.value });
  if (!done.ok) return err(failureOf(done.error));
  const { counts, secrets } = done.value;
  const lines = [`done: ${counts.create} created, ${counts.update} changed, ${counts.delete} deleted`];
  context.output.result(done.value, [...lines, ...secretLines(secrets)]);
  return ok(EXIT_CODES.ok);
}

const NOTHING = { create: 0, update: 0, delete: 0, kept: 0, skipped: 0 };

/** The tag of a plan that the person agrees to; `null` when there is nothing to do. */
async function agreedTag(
  context: CommandContext,
  client: Client,
  { input, flags }: { readonly input: FileInput; readonly flags: ConfigFlags },
): Promise<Result<string | null, CliFailure>> {
  const plan = await planOf(client, input);
  if (!plan.ok) return plan;
  const { verdict, tag, faults } = plan.value;
  if (verdict === "nothing") return ok(null);
  const [fault] = faults;
  if (fault) return err({ code: "refused", message: `${fault.path}: ${fault.message} (${fault.code})` });
  for (const line of planLines(plan.value)) context.output.line(line);
  if (flags.yes === true) return ok(tag);
  switch (await context.confirm("Do this?")) {
    case "yes":
      return ok(tag);
    case "no":
      return err({ code: "failed", message: "nothing was changed" });
    case "nobody":
      return err({ code: "usage", message: "there is no terminal to ask at: give --yes, or the --tag of a plan" });
  }
}

async function planOf(client: Client, input: FileInput): Promise<Result<Plan, CliFailure>> {
  const plan = await client.call("configuration.plan", input);
  return plan.ok ? plan : err(failureOf(plan.error));
}

function fileInput(path: string, flags: ConfigFlags): Result<FileInput, CliFailure> {
  try {
    return ok({
      content: readFileSync(path === "-" ? 0 : path, "utf8"),
      prune: flags.prune === true,
      absentPeers: flags.skipAbsentPeers === true ? "skip" : "refuse",
    });
  } catch (error) {
    return err({ code: "usage", message: `${path} cannot be read: ${reasonOf(error)}` });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
