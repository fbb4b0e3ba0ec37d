import { readFileSync, writeFileSync } from "node:fs";

import { createClient, type Call, type Client, type ClientFailure } from "@weft/client";
import { err, ok, type Result } from "@weft/protocol";

import { isRecord } from "../../state/state-store.ts";
import type { CommandContext, CommandOutcome } from "../context.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import type { CliFailure } from "../output.ts";
import { answerLines } from "./answer-lines.ts";

export type AdminFlags = {
  readonly json?: boolean;
  readonly server?: string;
  readonly tokenFile?: string;
  readonly ifMatch?: string;
  readonly input?: string;
  readonly all?: boolean;
  readonly output?: string;
};

type Wish = { readonly call: Call; readonly flags: AdminFlags; readonly input: Readonly<Record<string, unknown>> };

/** Calls one operation and prints its answer. */
export async function runAdmin(context: CommandContext, wish: Wish): Promise<CommandOutcome> {
  const { call, flags } = wish;
  const made = clientOf(flags, call.scope === undefined ? "anybody" : "token");
  if (!made.ok) return made;
  const client = made.value;
  const fromFile = inputFile(flags.input);
  if (!fromFile.ok) return fromFile;
  const input = { ...fromFile.value, ...wish.input };
  let tag: string | undefined;
  const onTag = (text: string) => (tag = text);
  const answer =
    flags.all === true
      ? await allPages(client, call, input)
      : await client.send(call, input, { ...extraOf(flags), onTag });
  if (!answer.ok) return err(failureOf(answer.error));
  if (answer.value instanceof Uint8Array) return saveFile(context, answer.value, flags.output ?? "");
  const value = answer.value === undefined ? {} : answer.value;
  const version = tag === undefined ? [] : [`version for --if-match: ${tag}`];
  context.output.result(isRecord(value) ? value : { value }, [...answerLines(answer.value), ...version]);
  return ok(EXIT_CODES.ok);
}

/** Reads a list to its end. */
async function allPages(
  client: Client,
  call: Call,
  input: Readonly<Record<string, unknown>>,
): Promise<Result<unknown, ClientFailure>> {
  const items: unknown[] = [];
  let cursor: unknown = input["cursor"];
  for (;;) {
    const page = await client.send(call, { limit: 500, ...input, ...(typeof cursor === "string" && { cursor }) });
    if (!page.ok) return page;
    if (!isRecord(page.value) || !Array.isArray(page.value["items"])) return page;
    items.push(...page.value["items"]);
    cursor = page.value["nextCursor"];
    if (typeof cursor !== "string") return ok({ items, nextCursor: null });
  }
}

/** A client for what the flags and the environment say. */
export function clientOf(
  flags: Pick<AdminFlags, "server" | "tokenFile">,
  asks: "token" | "anybody" = "token",
): Result<Client, CliFailure> {
  const access = accessOf(flags, process.env, asks);
  return access.ok ? ok(createClient(access.value)) : access;
}

/** Server and token; a token never comes from the command line, where every user of the machine could read it. */
function accessOf(
  flags: AdminFlags,
  environment: NodeJS.ProcessEnv,
  asks: "token" | "anybody",
): Result<{ readonly url: string; readonly token?: string }, CliFailure> {
  const url = flags.server ?? environment["WEFT_SERVER"] ?? "";
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    return err({ code: "usage", message: "say where the control plane is: --server https://… or WEFT_SERVER" });
  }
  const file = flags.tokenFile ?? environment["WEFT_TOKEN_FILE"];
  let token = environment["WEFT_TOKEN"] ?? "";
  if (file !== undefined) {
    try {
      token = readFileSync(file, "utf8");
    } catch (error) {
      return err({ code: "usage", message: `the token file cannot be read: ${String(error)}` });
    }
  }
  if (token.trim() === "") {
    if (asks === "anybody") return ok({ url });
    return err({ code: "usage", message: "an API token is needed: --token-file FILE, WEFT_TOKEN_FILE or WEFT_TOKEN" });
  }
  return ok({ url, token: token.trim() });
}

function inputFile(path: string | undefined): Result<Readonly<Record<string, unknown>>, CliFailure> {
  if (path === undefined) return ok({});
  try {
    const value: unknown = JSON.parse(readFileSync(path === "-" ? 0 : path, "utf8"));
    if (isRecord(value)) return ok(value);
    return err({ code: "usage", message: "--input must hold one JSON object" });
  } catch (error) {
    return err({ code: "usage", message: `--input cannot be read: ${error instanceof Error ? error.message : ""}` });
  }
}

function saveFile(context: CommandContext, bytes: Uint8Array, path: string): CommandOutcome {
  try {
    writeFileSync(path, bytes, { mode: 0o600, flag: "wx" });
  } catch (error) {
    return err({ code: "failed", message: `cannot write ${path}: ${error instanceof Error ? error.message : ""}` });
  }
  context.output.result({ file: path, bytes: bytes.length }, [`wrote ${path} (${bytes.length} bytes)`]);
  return ok(EXIT_CODES.ok);
}

function extraOf({ ifMatch }: AdminFlags): { readonly ifMatch?: string } {
  return ifMatch === undefined ? {} : { ifMatch };
}

/** A failure of a call as the command line says it. */
export function failureOf(failure: ClientFailure): CliFailure {
  if (failure.kind === "unreachable") {
    return { code: "unreachable", message: `the server does not answer: ${failure.message}` };
  }
  const { status, code, message, requestId } = failure;
  const kind = status === 400 ? "usage" : status === 401 || status === 403 ? "permission" : "refused";
  const advice = adviceFor(failure);
  return {
    code: kind,
    message: `${message}${advice === undefined ? "" : `; ${advice}`} (${code}, request ${requestId})`,
  };
}

/** What a person at a command line can do about it, where the answer itself does not say. */
function adviceFor({
  status,
  code,
  retryAfterSeconds,
}: Extract<ClientFailure, { readonly kind: "refused" }>): string | undefined {
  if (code === "version_required") return "give the etag of the item, or *, as --if-match";
  if (code === "scope_missing") return "use a token that has it";
  if (status === 401) return "give another token: --token-file FILE, WEFT_TOKEN_FILE or WEFT_TOKEN";
  if (status === 500) return "tell the operator the request id";
  return retryAfterSeconds === undefined ? undefined : `try again in ${retryAfterSeconds} s`;
}
