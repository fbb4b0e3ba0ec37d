import { isRecord } from "../state/state-store.ts";

/** What the command line asks the daemon; one JSON object per line. */
export type LocalRequest =
  | { readonly method: "status" }
  /** Answers when the first map is applied, or when that cannot happen. */
  | { readonly method: "waitReady"; readonly timeoutMs: number }
  | {
      readonly method: "ping";
      readonly peer: string;
      readonly count: number;
      readonly intervalMs: number;
      readonly timeoutMs: number;
    }
  /** Makes a worker of the engine panic; refused unless the daemon was started with WEFT_DEBUG_FAULTS=1. */
  | { readonly method: "injectPanic"; readonly shard: number }
  /** Records a profile for some seconds. */
  | {
      readonly method: "profileRun";
      readonly seconds: number;
      readonly frequencyHz: number;
      readonly format: "folded" | "pprof";
    }
  | { readonly method: "profileStart"; readonly frequencyHz: number }
  | { readonly method: "profileStop"; readonly format: "folded" | "pprof" }
  /** Flows with the most bytes, and what met each rule. */
  | { readonly method: "flows"; readonly flowsMax: number }
  /** What helps to find a fault. */
  | { readonly method: "debug"; readonly addresses: "keep" | "redact" }
  | { readonly method: "stop" }
  /** Removes the node from its network, then stops. */
  | { readonly method: "leave" };

/** What the daemon answers: any number of events, then one result or error. */
export type LocalReply =
  | { readonly event: unknown }
  | { readonly result: unknown }
  | { readonly error: { readonly code: string; readonly message: string } };

/** Reads one line; `null` when it is no request. */
export function parseLocalRequest(line: string): LocalRequest | null {
  const value = parseJson(line);
  if (!isRecord(value)) return null;
  switch (value["method"]) {
    case "debug":
      // A command line of before has no choice.
      return { method: "debug", addresses: value["addresses"] === "redact" ? "redact" : "keep" };
    case "status":
    case "stop":
    case "leave":
      return { method: value["method"] };
    case "profileRun":
    case "profileStart":
    case "profileStop":
      return profileRequest(value["method"], value);
    case "flows": {
      const flowsMax = wholeNumber(value["flowsMax"], { min: 1, max: 10_000 });
      return flowsMax === null ? null : { method: "flows", flowsMax };
    }
    case "injectPanic": {
      const shard = wholeNumber(value["shard"], { min: 0, max: 63 });
      return shard === null ? null : { method: "injectPanic", shard };
    }
    case "waitReady": {
      const timeoutMs = wholeNumber(value["timeoutMs"], { min: 0, max: 600_000 });
      return timeoutMs === null ? null : { method: "waitReady", timeoutMs };
    }
    case "ping": {
      const { peer } = value;
      const count = wholeNumber(value["count"], { min: 1, max: 1_000_000 });
      const intervalMs = wholeNumber(value["intervalMs"], { min: 10, max: 60_000 });
      const timeoutMs = wholeNumber(value["timeoutMs"], { min: 10, max: 60_000 });
      if (typeof peer !== "string" || peer.length > 255 || count === null || intervalMs === null || timeoutMs === null)
        return null;
      return { method: "ping", peer, count, intervalMs, timeoutMs };
    }
    default:
      return null;
  }
}

function profileRequest(
  method: "profileRun" | "profileStart" | "profileStop",
  value: { readonly [name: string]: unknown },
): LocalRequest | null {
  const seconds = wholeNumber(value["seconds"], { min: 1, max: 120 });
  const frequencyHz = wholeNumber(value["frequencyHz"], { min: 1, max: 999 });
  const format = value["format"] === "folded" || value["format"] === "pprof" ? value["format"] : null;
  switch (method) {
    case "profileRun":
      return seconds === null || frequencyHz === null || format === null
        ? null
        : { method, seconds, frequencyHz, format };
    case "profileStart":
      return frequencyHz === null ? null : { method, frequencyHz };
    case "profileStop":
      return format === null ? null : { method, format };
  }
}

/** Reads one line of an answer; `null` when it is none. */
export function parseLocalReply(line: string): LocalReply | null {
  const value = parseJson(line);
  if (!isRecord(value)) return null;
  if ("event" in value) return { event: value["event"] };
  if ("result" in value) return { result: value["result"] };
  const { error } = value;
  if (!isRecord(error) || typeof error["code"] !== "string" || typeof error["message"] !== "string") return null;
  return { error: { code: error["code"], message: error["message"] } };
}

/** Longest line that either side accepts from a request; answers may be longer. */
export const REQUEST_BYTES_MAX = 16 * 1024;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function wholeNumber(value: unknown, bounds: { readonly min: number; readonly max: number }): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= bounds.min && value <= bounds.max
    ? value
    : null;
}
