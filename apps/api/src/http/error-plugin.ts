import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Failure } from "../domain/failure.ts";
import { problemOf } from "./problem-of.ts";

/** Sends a failure as `application/problem+json`. */
export function sendFailure(request: FastifyRequest, reply: FastifyReply, failure: Failure): FastifyReply {
  const path = request.url.split("?", 1)[0] ?? "/";
  const problem = problemOf(failure, { id: request.id, path });
  if (problem.retryAfterSeconds !== undefined) reply.header("retry-after", String(problem.retryAfterSeconds));
  if (failure.code === "method_not_allowed") reply.header("allow", failure.allowed.join(", "));
  if (problem.status === 401) reply.header("www-authenticate", "Bearer");
  return reply.code(problem.status).type("application/problem+json").send(JSON.stringify(problem));
}

/** Whatever else goes wrong becomes a problem document; internals stay in the log. */
export function registerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => sendFailure(request, reply, failureOf(error, request)));
}

function failureOf(error: FastifyError, request: FastifyRequest): Failure {
  switch (error.code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return { code: "unsupported_media", got: request.headers["content-type"] ?? "nothing" };
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return { code: "payload_too_large", bytesMax: BODY_BYTES_MAX };
    case "FST_ERR_CTP_EMPTY_JSON_BODY":
    case "FST_ERR_CTP_INVALID_JSON_BODY":
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
    case "FST_ERR_BAD_URL":
      return malformed(error.message);
    default:
      if (error instanceof SyntaxError || error.statusCode === 400) return malformed("the body is not valid JSON");
      request.log.error({ event: "request_failed", err: error, requestId: request.id });
      return { code: "internal" };
  }
}

function malformed(message: string): Failure {
  return { code: "invalid_input", items: [{ pointer: "", code: "malformed", message }] };
}

/** Longest body that any operation needs. */
export const BODY_BYTES_MAX = 1_000_000;
