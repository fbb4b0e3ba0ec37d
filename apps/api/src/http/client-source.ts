import { z } from "zod";

/** Schemas as far as this file looks into them. */
type Schema = { readonly [key: string]: unknown };

/**
 * Source text of the typed client's table: types of all inputs and outputs, and how each operation is called. Made from the
 * OpenAPI document alone, so the client knows exactly what the document says.
 */
export function clientSource(document: unknown): string {
  const { paths, components } = DocumentSchema.parse(document);
  const operations = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => describeOperation(path, method.toUpperCase(), operation)),
    )
    .toSorted((left, right) => (left.call.name < right.call.name ? -1 : 1));
  const shared = Object.entries(components.schemas).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return [
    "// Generated from the OpenAPI document; `npx vitest run --project api -u src/http/client-source.test.ts` makes it anew.",
    'import type { CallTable } from "./call-table.ts";',
    "",
    ...shared.map(([name, schema]) => `export type ${name} = ${typeOf(schema)};`),
    "",
    "/** Input and output of every operation. */",
    "export type Operations = {",
    ...operations.map(
      ({ call, input, output }) => `  ${JSON.stringify(call.name)}: { input: ${input}; output: ${output} };`,
    ),
    "};",
    "",
    "/** How every operation is called. */",
    "export const CALLS: CallTable = [",
    ...operations.map(({ call }) => `  ${JSON.stringify(call)},`),
    "];",
    "",
  ].join("\n");
}

function describeOperation(path: string, method: string, operation: z.output<typeof OperationSchema>) {
  const body = operation.requestBody?.content["application/json"]?.schema;
  const properties = body === undefined ? {} : ManySchemas.parse(body["properties"] ?? {});
  const required = z.array(z.string()).parse(body?.["required"] ?? []);
  const fields = [
    ...operation.parameters
      .filter(({ in: place }) => place !== "header")
      .map(({ name, in: place, schema, required: isRequired }) => ({ name, place, schema, isRequired })),
    ...Object.entries(properties).map(([name, schema]) => ({
      name,
      place: "body" as const,
      schema,
      isRequired: required.includes(name),
    })),
  ];
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith("2"))?.[1];
  const [type, answer] = Object.entries(success?.content ?? {}).at(0) ?? [];
  const answers = type === undefined ? "nothing" : type === "application/json" ? "json" : "file";
  const members = fields.map(
    ({ name, schema, isRequired }) => `${key(name)}${isRequired ? "" : "?"}: ${typeOf(schema)}`,
  );
  return {
    input: members.length === 0 ? "Record<string, never>" : `{ ${members.join("; ")} }`,
    output: answers === "json" ? typeOf(answer?.schema ?? {}) : answers === "file" ? "Uint8Array" : "undefined",
    call: {
      name: operation.operationId,
      summary: operation.summary,
      method,
      path,
      answers,
      ...(operation["x-scope"] !== undefined && { scope: operation["x-scope"] }),
      fields: fields.map(({ name, place, schema, isRequired }) => ({
        name,
        place,
        required: isRequired,
        ...kindOf(schema),
        ...(typeof schema["description"] === "string" && { about: schema["description"] }),
      })),
    },
  };
}

/** What a command line has to know about a field. */
function kindOf(schema: Schema): {
  readonly kind: string;
  readonly choices?: readonly string[];
  readonly nullable?: true;
} {
  const options = z.array(OneSchema).optional().parse(schema["anyOf"]);
  if (options) {
    const solid = options.filter((option) => option["type"] !== "null");
    const [only] = solid;
    if (only && solid.length === 1)
      return { ...kindOf(only), ...(solid.length < options.length && { nullable: true }) };
    return { kind: "json" };
  }
  const choices = z.array(z.string()).safeParse(schema["enum"]);
  if (choices.success) return { kind: "text", choices: choices.data };
  switch (schema["type"]) {
    case "string":
      return { kind: "text" };
    case "integer":
    case "number":
      return { kind: "number" };
    case "boolean":
      return { kind: "boolean" };
    case "array": {
      const items = OneSchema.safeParse(schema["items"]);
      return { kind: items.success && kindOf(items.data).kind === "text" ? "texts" : "json" };
    }
    default:
      return { kind: "json" };
  }
}

/** A JSON Schema as a TypeScript type. */
function typeOf(schema: unknown): string {
  const found = OneSchema.safeParse(schema);
  if (!found.success) return "unknown";
  const it = found.data;
  if (typeof it["$ref"] === "string") return it["$ref"].replace(/^.*\//, "");
  for (const [word, joint] of [
    ["anyOf", " | "],
    ["oneOf", " | "],
    ["allOf", " & "],
  ] as const) {
    const parts = it[word];
    if (Array.isArray(parts)) return `(${[...new Set(parts.map(typeOf))].join(joint)})`;
  }
  if (Array.isArray(it["enum"])) return `(${it["enum"].map((value) => JSON.stringify(value)).join(" | ")})`;
  if ("const" in it) return JSON.stringify(it["const"]);
  if (Array.isArray(it["type"])) return `(${it["type"].map((type) => typeOf({ ...it, type })).join(" | ")})`;
  switch (it["type"]) {
    case "string":
    case "boolean":
    case "null":
      return it["type"];
    case "integer":
    case "number":
      return "number";
    case "array":
      return `readonly ${wrapped(typeOf(it["items"]))}[]`;
    case "object":
      return objectType(it);
    default:
      return "unknown";
  }
}

function objectType(schema: Schema): string {
  const properties = Object.entries(ManySchemas.parse(schema["properties"] ?? {}));
  const required = z.array(z.string()).parse(schema["required"] ?? []);
  if (properties.length === 0) return `Record<string, ${typeOf(schema["additionalProperties"])}>`;
  const members = properties.map(
    ([name, inner]) => `readonly ${key(name)}${required.includes(name) ? "" : "?"}: ${typeOf(inner)}`,
  );
  return `{ ${members.join("; ")} }`;
}

function key(name: string): string {
  return /^[a-zA-Z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

function wrapped(type: string): string {
  return /[ |&]/.test(type) && !type.startsWith("(") && !type.startsWith("{") ? `(${type})` : type;
}

const OneSchema = z.record(z.string(), z.unknown());
const ManySchemas = z.record(z.string(), OneSchema);
const ContentSchema = z.record(z.string(), z.object({ schema: OneSchema }));
const OperationSchema = z.object({
  operationId: z.string(),
  summary: z.string(),
  "x-scope": z.string().optional(),
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.enum(["path", "query", "header"]),
        required: z.boolean().default(false),
        schema: OneSchema,
      }),
    )
    .default([]),
  requestBody: z.object({ content: ContentSchema }).optional(),
  responses: z.record(z.string(), z.object({ content: ContentSchema.optional() })),
});
const DocumentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), OperationSchema)),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});
