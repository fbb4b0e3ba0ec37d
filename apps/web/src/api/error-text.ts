import { TRPCClientError } from "@trpc/client";
import { strings } from "../strings/index.ts";
import type { Problem } from "../ui/panels.tsx";

/** Turns anything that was thrown into a sentence, a code, a request id and whether a retry may help. */
export function toProblem(error: unknown): Problem {
  const details = error instanceof TRPCClientError ? readDetails(error.data) : null;
  if (details) {
    return {
      sentence: sentenceFor(details),
      code: details.code,
      requestId: details.requestId,
      retry: details.status >= 500 || details.status === 429 ? "helps" : "useless",
    };
  }
  if (error instanceof TRPCClientError || error instanceof TypeError) {
    return { sentence: strings.errors.unreachable, code: "server_unreachable", requestId: null, retry: "helps" };
  }
  return { sentence: strings.errors.page, code: "page_failed", requestId: null, retry: "helps" };
}

/** The HTTP status of a failed call; null when no answer came. */
export function statusOf(error: unknown): number | null {
  return error instanceof TRPCClientError ? (readDetails(error.data)?.status ?? null) : null;
}

/** What the next step of a login carries, when the server asked for one more. */
export function loginTokenOf(error: unknown): string | null {
  const data: unknown = error instanceof TRPCClientError ? error.data : null;
  const problem = isRecord(data) && isRecord(data["problem"]) ? data["problem"] : {};
  return textOf(problem["loginToken"]);
}

type Details = {
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly requestId: string | null;
};

function sentenceFor(details: Details): string {
  const known = new Map<string, string>(Object.entries(strings.errors.byCode)).get(details.code);
  return known ?? (details.detail || strings.errors.unknown);
}

function readDetails(data: unknown): Details | null {
  if (!isRecord(data)) return null;
  const problem = isRecord(data["problem"]) ? data["problem"] : {};
  const status = numberOf(problem["status"]) ?? numberOf(data["httpStatus"]);
  if (status === null) return null;
  return {
    status,
    code: textOf(problem["code"]) ?? textOf(data["code"]) ?? "unknown",
    detail: textOf(problem["detail"]) ?? "",
    requestId: textOf(problem["requestId"]),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
