import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import { isAlias, parseAllDocuments, stringify, visit } from "yaml";
import { z } from "zod";
import type { FailedField, Failure } from "../../domain/failure.ts";
import { failedFields } from "../../registry/failed-fields.ts";
import { DocumentSchema } from "./document.ts";
import type { ConfigurationDocument } from "./document.ts";

export type TextFormat = "yaml" | "json";

/** Reads YAML or JSON, which is a part of YAML. Anchors and aliases are refused: they let a small file mean a huge one. */
export function readDocument(text: string): Result<ConfigurationDocument, Failure> {
  const value = readYaml(text);
  if (!value.ok) return value;
  const parsed = DocumentSchema.safeParse(value.value);
  if (!parsed.success) return err({ code: "invalid_input", items: failedFields(parsed.error).slice(0, FAULTS_MAX) });
  const repeated = repetitions(parsed.data);
  return repeated.length > 0 ? err({ code: "invalid_input", items: repeated.slice(0, FAULTS_MAX) }) : ok(parsed.data);
}

/** The same document gives the same bytes. Fields that say what is meant anyway are left out. */
export function writeDocument(document: ConfigurationDocument, format: TextFormat): string {
  const short = withoutDefaults(DocumentSchema, document);
  if (format === "json") return `${JSON.stringify(short, null, 2)}\n`;
  return stringify(short, { version: "1.2", lineWidth: 0, aliasDuplicateObjects: false });
}

function readYaml(text: string): Result<unknown, Failure> {
  if (deepest(text) > DEPTH_MAX) return refuse(`is nested deeper than ${DEPTH_MAX} levels`, "too_deep");
  let documents;
  try {
    documents = parseAllDocuments(text, { version: "1.2", schema: "core", uniqueKeys: true, logLevel: "silent" });
  } catch (error) {
    if (error instanceof RangeError) return refuse("is nested too deep", "too_deep");
    throw error;
  }
  const [document, second] = [...documents];
  if (!document || second) return refuse("must hold exactly one document", "documents");
  const [first] = document.errors;
  if (first) return refuse(`cannot be read: ${first.message.split("\n")[0] ?? ""}`, "unreadable");
  let aliases = 0;
  visit(document, {
    Node(_key, node) {
      if (isAlias(node) || ("anchor" in node && node.anchor !== undefined)) aliases += 1;
    },
  });
  if (aliases > 0) return refuse("must not use anchors and aliases", "alias");
  return ok(document.toJS({ maxAliasCount: 0 }));
}

/**
 * A bound on how deep the parser, which calls itself, would go: opened brackets, and the indentation that blocks nest by.
 * Text inside quotes may count as well, which errs on the safe side.
 */
function deepest(text: string): number {
  let depth = 0;
  let most = 0;
  for (const line of text.split("\n")) {
    const dashes = /^[ \t]*((?:[-?:][ \t]+)*)/.exec(line);
    const block = Math.ceil((dashes?.[0].length ?? 0) / 2);
    for (const letter of line) {
      if (letter === "[" || letter === "{") depth += 1;
      else if ((letter === "]" || letter === "}") && depth > 0) depth -= 1;
      if (depth + block > most) most = depth + block;
    }
    most = Math.max(most, block);
  }
  return most;
}

function refuse(message: string, code: string): Result<never, Failure> {
  return err({ code: "invalid_input", items: [{ pointer: "", code, message: `the file ${message}` }] });
}

/** What stands twice in a list whose items go by name. */
function repetitions(document: ConfigurationDocument): FailedField[] {
  const networks = document.networks ?? [];
  return [
    ...twice("/networks", networks, ({ name }) => name.toLowerCase()),
    ...networks.flatMap((network, place) => {
      const at = `/networks/${place}`;
      return [
        ...twice(`${at}/groups`, network.groups, ({ name }) => name.toLowerCase()),
        ...twice(`${at}/concealProfiles`, network.concealProfiles, ({ name }) => name.toLowerCase()),
        ...twice(`${at}/nameservers`, network.nameservers, ({ name }) => name.toLowerCase()),
        ...twice(`${at}/enrolmentKeys`, network.enrolmentKeys, ({ name }) => name),
        ...twice(`${at}/routes`, network.routes, ({ peer, prefix }) => `${prefix} ${peer}`),
        ...twice(`${at}/routeApprovers`, network.routeApprovers, ({ group, prefix }) => `${prefix} ${group}`),
        ...twice(`${at}/nameRecords`, network.nameRecords, ({ name, type, value }) => `${name} ${type} ${value}`),
      ];
    }),
    ...twice("/webhooks", document.webhooks, ({ name }) => name),
    ...twice("/serviceAccounts", document.serviceAccounts, ({ login }) => login.toLowerCase()),
  ];
}

function twice<Item>(at: string, items: readonly Item[] | undefined, nameOf: (item: Item) => string): FailedField[] {
  const seen = new Set<string>();
  return (items ?? []).flatMap((item, place) => {
    const name = nameOf(item);
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ pointer: `${at}/${place}`, code: "repeated", message: `${name} stands here twice` }];
  });
}

/** Leaves out every field whose value is what its schema would put there. */
function withoutDefaults(schema: z.ZodType, value: unknown): unknown {
  const inner = bare(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    const { element } = inner;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of zod's core has no methods
    return value.map((item) => withoutDefaults(element as z.ZodType, item));
  }
  if (!(inner instanceof z.ZodObject) || typeof value !== "object" || value === null) return value;
  const shape: Readonly<Record<string, z.ZodType>> = inner.shape;
  const given: ReadonlyMap<string, unknown> = new Map(Object.entries(value));
  return Object.fromEntries(
    Object.entries(shape).flatMap(([key, field]) => {
      const said = given.get(key);
      const implied = field.safeParse(undefined);
      if (said === undefined || (implied.success && JSON.stringify(implied.data) === JSON.stringify(said))) return [];
      return [[key, withoutDefaults(field, said)]];
    }),
  );
}

/** A schema without what makes it optional. */
function bare(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return bare(schema.unwrap() as z.ZodType);
  }
  return schema;
}

const FAULTS_MAX = 100;
const DEPTH_MAX = 60;
