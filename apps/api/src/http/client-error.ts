import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { problemOf } from "./problem-of.ts";
import type { Failure } from "../domain/failure.ts";

/** Answers bytes that never became a request, as the other answers are: a problem document with a request id. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  // The other side is gone, or was answered already.
  if (error.code === "ECONNRESET" || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const problem = problemOf(failureOf(error.code), { id: randomUUID(), path: "/" });
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    "content-type: application/problem+json",
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${problem.requestId}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function failureOf(code: string | undefined): Failure {
  if (code === "HPE_HEADER_OVERFLOW") return { code: "headers_too_large" };
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return { code: "request_timed_out" };
  return { code: "invalid_input", items: [{ pointer: "", code: "malformed", message: "this is no HTTP request" }] };
}
