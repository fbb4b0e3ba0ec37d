import { CALLS, type Call, type CallField } from "@weft/client";
import { InvalidArgumentError, Option, type Command } from "commander";

import { runAdmin, type AdminFlags } from "./run-admin.ts";
import { addAccess, type Run } from "./access-options.ts";
import { addConfig } from "./config-command.ts";

/** `weft admin NOUN VERB`: one command for each operation that the server's interface has. */
export function addAdmin(program: Command, run: Run): void {
  const admin = program.command("admin").description("administer a control plane over its API");
  addConfig(admin, run);
  const nouns = new Map<string, Command>();
  for (const call of CALLS) {
    const [noun = "", verb = ""] = call.name.split(".");
    const group = nouns.get(noun) ?? admin.command(kebab(noun)).description(`operations on ${kebab(noun)}`);
    nouns.set(noun, group);
    addCall(group.command(kebab(verb)).description(call.summary), call, run);
  }
}

function addCall(command: Command, call: Call, run: Run): void {
  const inPath = call.fields.filter(({ place }) => place === "path");
  const others = call.fields.filter(({ place }) => place !== "path");
  for (const field of inPath) command.argument(`<${kebab(field.name)}>`, field.about);
  for (const field of others) command.addOption(optionOf(field));
  addAccess(command)
    .option("--if-match <tag>", "change this version only")
    .option("--json", "print what the server answers");
  if (call.method === "POST" || call.method === "PATCH" || call.method === "PUT") {
    command.option("--input <file>", "JSON object with fields; - reads standard input");
  }
  if (call.fields.some(({ name }) => name === "cursor")) command.option("--all", "read all pages");
  if (call.answers === "file") command.requiredOption("--output <file>", "where the file goes; must not exist");
  command.action((...given: unknown[]) => {
    const flags = command.opts<AdminFlags>();
    const path = Object.fromEntries(inPath.map(({ name }, place) => [name, String(given[place])]));
    const set = others.flatMap(({ name }) => {
      const said: unknown = command.getOptionValue(attributeOf(name));
      return said instanceof Said ? [[name, said.value] as const] : [];
    });
    return run(flags.json === undefined ? {} : { json: flags.json }, (context) =>
      runAdmin(context, { call, flags, input: { ...Object.fromEntries(set), ...path } }),
    );
  });
}

function optionOf(field: CallField): Option {
  const need = field.required ? "needed, here or in --input" : undefined;
  const about = [field.about, field.choices?.join(", "), need].filter((text) => text !== undefined).join(" — ");
  return new Option(`--${kebab(field.name)} <${WORDS.get(field.kind) ?? "value"}>`, about).argParser(
    (text) => new Said(valueOf(field, text)),
  );
}

/** A value with a wrapping: commander makes an empty text of a bare null. */
class Said {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

/** Reads a value as its field wants it; what is wrong beyond its kind is for the server to say. */
function valueOf(field: CallField, text: string): unknown {
  if (field.nullable === true && text === "null") return null;
  switch (field.kind) {
    case "number":
      if (text.trim() === "" || !Number.isFinite(Number(text))) throw new InvalidArgumentError("must be a number");
      return Number(text);
    case "boolean":
      if (text !== "true" && text !== "false") throw new InvalidArgumentError("must be true or false");
      return text === "true";
    case "texts":
      return text === "" ? [] : text.split(",");
    case "json":
      try {
        return JSON.parse(text);
      } catch {
        throw new InvalidArgumentError("must be JSON");
      }
    default:
      if (field.choices && !field.choices.includes(text)) {
        throw new InvalidArgumentError(`must be one of ${field.choices.join(", ")}`);
      }
      return text;
  }
}

/** `enrolmentKeys` → `enrolment-keys`. */
function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** What commander calls the option of a field. */
function attributeOf(name: string): string {
  return kebab(name).replaceAll(/-(\w)/g, (_whole, letter: string) => letter.toUpperCase());
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ["text", "text"],
  ["number", "number"],
  ["boolean", "true|false"],
  ["texts", "a,b,c"],
  ["json", "json"],
]);
