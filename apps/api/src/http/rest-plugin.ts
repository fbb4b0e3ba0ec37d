import { createReadStream } from "node:fs";
import { err, ok } from "@weft/protocol";
import type { Result } from "@weft/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { FailedField, Failure } from "../domain/failure.ts";
import type { FeatureDeps } from "../registry/feature-deps.ts";
import { authorise } from "../registry/authorise.ts";
import { operations } from "../registry/operations.ts";
import type { Operation } from "../registry/operations.ts";
import { isRepeatable, runOnce } from "../registry/run-once.ts";
import { runOperation } from "../registry/run-operation.ts";
import { tagOf } from "../registry/versions.ts";
import { callOf } from "./call-plugin.ts";
import { sendFailure } from "./error-plugin.ts";
import { shapeOf, typedQuery } from "./query-values.ts";

/** Base of every REST path. */
export const REST_BASE = "/api/v1";

/** One REST route per operation. */
export function registerRest(app: FastifyInstance, deps: FeatureDeps): void {
  for (const operation of operations) {
    const { method, path } = operation.contract.rest;
    app.route({
      method,
      url: REST_BASE + path.replace(/\{(\w+)\}/g, ":$1"),
      handler: (request, reply) => answer({ operation, deps, request, reply }),
    });
  }
}

async function answer(context: {
  readonly operation: Operation;
  readonly deps: FeatureDeps;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}): Promise<unknown> {
  const { operation, request, reply } = context;
  const input = inputOf(operation, request);
  if (!input.ok) return sendFailure(request, reply, input.error);
  const result = await run(context, input.value);
  if (!result.ok) return sendFailure(request, reply, result.error);
  const { status, location, tagged, download } = operation.contract.rest;
  if (download !== undefined) return sendFile(reply, download, FileSchema.parse(result.value));
  if (tagged) reply.header("etag", tagOf(tagged, asRecord(result.value)));
  if (location) reply.header("location", REST_BASE + fill(location, result.value));
  reply.code(status);
  return status === 204 ? reply.send() : result.value;
}

/** Streams a file that a use case named. */
function sendFile(reply: FastifyReply, type: string, file: z.output<typeof FileSchema>): FastifyReply {
  reply.header("content-disposition", `attachment; filename="${file.fileName}"`);
  return reply.type(type).header("content-length", file.bytes).send(createReadStream(file.path));
}

const FileSchema = z.object({ path: z.string(), fileName: z.string().regex(/^[\w.-]+$/), bytes: z.int() });

async function run(context: Parameters<typeof answer>[0], input: unknown): Promise<Result<unknown, Failure>> {
  const { operation, deps, request, reply } = context;
  const call = callOf(request);
  if (operation.contract.rest.ifMatch === "required" && call.ifMatch === undefined) {
    // Who may not call it at all hears that first.
    const allowed = await authorise(deps.database.db, operation.contract.access, { actor: call.actor, input });
    return allowed.ok ? err({ code: "version_required" }) : allowed;
  }
  const key = request.headers["idempotency-key"];
  if (typeof key !== "string" || !isRepeatable(operation)) return runOperation(operation, deps, { call, input });
  const result = await runOnce(operation, deps, { call, input, key });
  if (!result.ok) return result;
  if (result.value.origin === "repeated") reply.header("idempotent-replayed", "true");
  return ok(result.value.answer);
}

/** Path, query and body name different fields of one input; a field at two places is refused. */
function inputOf(operation: Operation, request: FastifyRequest): Result<unknown, Failure> {
  const { input: schema, rest } = operation.contract;
  const fields = shapeOf(schema);
  const params = asRecord(request.params);
  const query = asRecord(request.query);
  const body = request.body ?? undefined;
  // A question may be too long for a URL.
  const takesBody = rest.method !== "GET" && rest.method !== "DELETE";
  if (body !== undefined && (typeof body !== "object" || Array.isArray(body))) {
    return err({
      code: "invalid_input",
      items: [{ pointer: "", code: "invalid_type", message: "expected an object" }],
    });
  }
  const content = takesBody ? asRecord(body) : {};
  const misplaced = [
    ...(takesBody ? Object.keys(query).map(unknownField) : []),
    ...Object.keys(takesBody ? content : query)
      .filter((name) => name in params)
      .map(unknownField),
    ...(takesBody ? [] : Object.keys(asRecord(body)).map(unknownField)),
  ];
  if (misplaced.length > 0) return err({ code: "invalid_input", items: misplaced });
  const merged = takesBody ? { ...content, ...params } : { ...typedQuery(schema, query), ...params };
  const isEmpty = Object.keys(merged).length === 0 && Object.keys(fields).length === 0;
  return { ok: true, value: isEmpty ? undefined : merged };
}

function unknownField(name: string): FailedField {
  return { pointer: `/${name}`, code: "unknown_field", message: "this field does not exist here" };
}

function fill(template: string, output: unknown): string {
  const values = asRecord(output);
  return template.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(String(values[name])));
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
