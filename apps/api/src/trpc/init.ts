import { initTRPC, TRPCError } from "@trpc/server";
import type { Failure } from "../domain/failure.ts";
import { problemOf, statusOf } from "../http/problem-of.ts";
import type { Call } from "../registry/call.ts";
import type { ErrorShape } from "./router-types.ts";

/** Carries a failure through tRPC to the error formatter. */
class FailureError extends Error {
  override readonly name = "FailureError";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.code);
    this.failure = failure;
  }
}

/** tRPC with our context and problem documents beside its own error shape. */
export const t = initTRPC.context<Call>().create({
  isDev: false,
  sse: { ping: { enabled: true, intervalMs: 15_000 }, client: { reconnectAfterInactivityMs: 40_000 } },
  errorFormatter({ shape, error, ctx, path }): ErrorShape {
    const failure = failureOf(error);
    const problem = problemOf(failure, { id: ctx?.requestId ?? "", path: `/trpc/${path ?? ""}` });
    return { ...shape, message: problem.detail, data: { ...shape.data, problem } };
  },
});

/** Turns a failure into what tRPC throws; the status equals REST's wherever tRPC has a name for it. */
export function trpcError(failure: Failure): TRPCError {
  return new TRPCError({
    code: TRPC_CODES[statusOf(failure)] ?? "INTERNAL_SERVER_ERROR",
    cause: new FailureError(failure),
  });
}

/** The failure behind a tRPC error; what is not ours is a bug. */
function failureOf(error: TRPCError): Failure {
  if (error.cause instanceof FailureError) return error.cause.failure;
  switch (error.code) {
    case "NOT_FOUND":
      return { code: "not_found", what: "procedure" };
    case "METHOD_NOT_SUPPORTED":
      return { code: "method_not_allowed", allowed: ["GET", "POST"] };
    case "UNSUPPORTED_MEDIA_TYPE":
      return { code: "unsupported_media", got: "another type" };
    case "PARSE_ERROR":
    case "BAD_REQUEST":
      return {
        code: "invalid_input",
        items: [{ pointer: "", code: "malformed", message: "the request is malformed" }],
      };
    case "CLIENT_CLOSED_REQUEST":
      return { code: "stopping" };
    default:
      return { code: "internal" };
  }
}

const TRPC_CODES: Readonly<Record<number, TRPCError["code"]>> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "CONFLICT",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  422: "UNPROCESSABLE_CONTENT",
  429: "TOO_MANY_REQUESTS",
  502: "BAD_GATEWAY",
  503: "SERVICE_UNAVAILABLE",
  504: "GATEWAY_TIMEOUT",
};
