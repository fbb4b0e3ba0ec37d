import { z } from "zod";
import type { OperationContract } from "../registry/contract-kit.ts";
import { contracts } from "../registry/contracts.ts";
import { isRepeatable } from "../registry/run-once.ts";
import { shapeOf } from "./query-values.ts";

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document, made from the contracts alone. */
export function openApiDocument(version: string): Json {
  const schemas: Json = { Problem: PROBLEM_SCHEMA };
  const paths: Record<string, Json> = {};
  for (const { name, contract } of restContracts()) {
    const path = paths[contract.rest.path] ?? {};
    path[contract.rest.method.toLowerCase()] = operationObject(name, contract, schemas);
    paths[contract.rest.path] = path;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "weft",
      version,
      description:
        "Manage networks, peers, keys and rules. Lists are paged by cursor, errors are problem documents (RFC 9457), " +
        "64-bit counters are decimal strings, times are RFC 3339 in UTC.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/api/v1" }],
    paths,
    components: { schemas, securitySchemes: SECURITY_SCHEMES },
  };
}

/** Operations that REST offers. */
export function restContracts(): { readonly name: string; readonly contract: OperationContract }[] {
  return Object.entries(contracts).flatMap(([noun, verbs]) =>
    Object.entries(verbs).flatMap(([verb, contract]) =>
      contract.kind === "subscription" ? [] : [{ name: `${noun}.${verb}`, contract }],
    ),
  );
}

function operationObject(name: string, contract: OperationContract, schemas: Json): Json {
  const { rest, access } = contract;
  const output = jsonSchema(contract.output, "output", schemas);
  const file = { type: "string", format: "binary" };
  const content =
    rest.download === undefined ? { "application/json": { schema: output } } : { [rest.download]: { schema: file } };
  const success = rest.status === 204 ? {} : { content };
  const headers = {
    ...(rest.location && { Location: { schema: { type: "string" }, description: "Path of the new item." } }),
    ...(rest.tagged && { ETag: { schema: { type: "string" }, description: "Version of the item, for If-Match." } }),
  };
  return {
    operationId: name,
    summary: contract.summary,
    tags: [name.split(".")[0]],
    "x-permission": access.kind === "role" ? access.role : access.kind,
    ...(access.kind !== "public" && { "x-scope": access.scope }),
    security: access.kind === "public" ? [] : [{ token: [access.scope] }, { session: [] }],
    ...inputObject(contract, schemas),
    responses: {
      [rest.status]: { description: "Done", headers: { ...REQUEST_ID_HEADER, ...headers }, ...success },
      default: {
        description: "Refused or failed",
        headers: REQUEST_ID_HEADER,
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    },
  };
}

function inputObject(contract: OperationContract, schemas: Json): Json {
  const { rest } = contract;
  const inPath = new Set([...rest.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ""));
  const shape = shapeOf(contract.input);
  // A question may be too long for a URL.
  const takesBody = rest.method !== "GET" && rest.method !== "DELETE";
  const parameters: Json[] = isRepeatable({ contract }) ? [IDEMPOTENCY_KEY_HEADER] : [];
  if (rest.ifMatch) parameters.push({ ...IF_MATCH_HEADER, required: rest.ifMatch === "required" });
  const body: Record<string, z.ZodType> = {};
  for (const [field, schema] of Object.entries(shape)) {
    if (takesBody && !inPath.has(field)) body[field] = schema;
    else {
      const place = inPath.has(field) ? "path" : "query";
      const required = place === "path" || !schema.safeParse(undefined).success;
      parameters.push({ name: field, in: place, required, schema: jsonSchema(schema, "input", schemas) });
    }
  }
  if (Object.keys(body).length === 0) return { parameters };
  const schema = jsonSchema(z.strictObject(body), "input", schemas);
  const content = { "application/json": { schema }, ...(rest.method === "PATCH" && { [MERGE_PATCH]: { schema } }) };
  const isNeeded = !z.strictObject(body).safeParse({}).success;
  return { parameters, requestBody: { required: isNeeded, content } };
}

/** JSON Schema of one value; schemas with an id are shared through `components`. */
function jsonSchema(schema: z.ZodType, io: "input" | "output", schemas: Json): unknown {
  const {
    $schema: _dialect,
    $defs,
    ...rest
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    cycles: "ref",
    reused: "inline",
  });
  for (const [id, definition] of Object.entries($defs ?? {})) schemas[id] = toComponents(definition);
  return toComponents(rest);
}

/** Rewrites local references to where the document keeps its schemas. */
function toComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toComponents);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      if (key === "$ref" && typeof inner === "string")
        return [[key, inner.replace("#/$defs/", "#/components/schemas/")]];
      return key === "id" && typeof inner === "string" ? [] : [[key, toComponents(inner)]];
    }),
  );
}

/** Media type of RFC 7396. */
export const MERGE_PATCH = "application/merge-patch+json";

const IF_MATCH_HEADER = {
  name: "If-Match",
  in: "header",
  schema: { type: "string" },
  description: "Entity tag of the version to change, or *; another version answers 412.",
};

const IDEMPOTENCY_KEY_HEADER = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  schema: { type: "string", minLength: 16, maxLength: 200 },
  description:
    "Random text that stands for this one call: a repetition with the same body within 24 hours creates nothing and " +
    "gets the same answer, with the header Idempotent-Replayed. Keep it secret where the answer holds a secret.",
};

const REQUEST_ID_HEADER = {
  "X-Request-Id": { schema: { type: "string" }, description: "Names this request in logs and audit events." },
};

const SECURITY_SCHEMES = {
  token: { type: "http", scheme: "bearer", description: "API token with scopes." },
  session: { type: "apiKey", in: "cookie", name: "weft_session", description: "The dashboard's session." },
};

const PROBLEM_SCHEMA = {
  type: "object",
  description: "RFC 9457",
  required: ["type", "title", "status", "detail", "instance", "code", "requestId"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    instance: { type: "string" },
    code: { type: "string", description: "Stable name of the error." },
    requestId: { type: "string" },
    retryAfterSeconds: { type: "integer" },
    errors: {
      type: "array",
      items: {
        type: "object",
        required: ["pointer", "code", "message"],
        properties: { pointer: { type: "string" }, code: { type: "string" }, message: { type: "string" } },
      },
    },
  },
};
