import { err, ok, type Result } from "@weft/protocol";

import type { Call } from "./call-table.ts";
import { CALLS, type Operations } from "./generated.ts";

/** Why a call gave nothing. */
export type ClientFailure =
  /** The server said no; `code` is its stable name for the reason. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly code: string;
      readonly message: string;
      readonly requestId: string;
      readonly retryAfterSeconds?: number;
    }
  /** Nothing that speaks this interface answered. */
  | { readonly kind: "unreachable"; readonly message: string };

export type Client = {
  /** Calls an operation by its name. */
  readonly call: <Name extends keyof Operations>(
    name: Name,
    input: Operations[Name]["input"],
    extra?: CallExtra,
  ) => Promise<Result<Operations[Name]["output"], ClientFailure>>;
  /** The same for names and inputs that are only known at run time; the server checks them. */
  readonly send: (
    call: Call,
    input: Readonly<Record<string, unknown>>,
    extra?: CallExtra,
  ) => Promise<Result<unknown, ClientFailure>>;
};

export type CallExtra = {
  readonly ifMatch?: string;
  readonly idempotencyKey?: string;
  /** Hears the entity tag of the item in the answer, for `ifMatch` of a later change. */
  readonly onTag?: (tag: string) => void;
};

export type ClientOptions = {
  /** Where the server is, such as `https://weft.example.org`. */
  readonly url: string;
  /** Left out for what anybody may ask. */
  readonly token?: string;
  readonly fetch?: typeof fetch;
  /** Milliseconds until a call is given up; a minute when left out. */
  readonly timeoutMs?: number;
};

/** Calls a control plane with an API token. */
export function createClient(options: ClientOptions): Client {
  const send: Client["send"] = async (call, input, extra = {}) => {
    const request = requestOf(call, input);
    let response: Response;
    try {
      response = await (options.fetch ?? fetch)(`${options.url.replace(/\/+$/, "")}/api/v1${request.path}`, {
        method: call.method,
        headers: {
          ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
          ...(request.body !== undefined && { "content-type": "application/json" }),
          ...(extra.ifMatch !== undefined && { "if-match": extra.ifMatch }),
          ...(extra.idempotencyKey !== undefined && { "idempotency-key": extra.idempotencyKey }),
        },
        ...(request.body !== undefined && { body: request.body }),
        redirect: "error",
        signal: AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS),
      });
      const tag = response.headers.get("etag");
      if (tag !== null && response.ok) extra.onTag?.(tag);
      return await answerOf(call, response);
    } catch (error) {
      return err({ kind: "unreachable", message: reasonOf(error) });
    }
  };
  return {
    send,
    async call(name, input, extra) {
      const call = CALLS.find((one) => one.name === name);
      if (!call) throw new Error(`the table lacks ${name}`);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- table and types are made from one document
      return (await send(call, input, extra)) as never;
    },
  };
}

/** Path with query, and body; fields that are not set stay out. */
function requestOf(call: Call, input: Readonly<Record<string, unknown>>): { path: string; body?: string } {
  const places = new Map(call.fields.map(({ name, place }) => [name, place]));
  const set = Object.entries(input).filter(([, value]) => value !== undefined);
  const path = call.path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(String(input[name])));
  const query = new URLSearchParams(
    set
      .filter(([name]) => places.get(name) === "query")
      .map(([name, value]) => [name, String(value)] as [string, string]),
  ).toString();
  // What the table does not know goes along, too: the server says that it does not exist.
  const body = Object.fromEntries(set.filter(([name]) => places.get(name) === "body" || !places.has(name)));
  const takesBody = call.method === "POST" || call.method === "PATCH" || call.method === "PUT";
  return { path: query === "" ? path : `${path}?${query}`, ...(takesBody && { body: JSON.stringify(body) }) };
}

async function answerOf(call: Call, response: Response): Promise<Result<unknown, ClientFailure>> {
  if (response.ok && call.answers === "file") return ok(new Uint8Array(await response.arrayBuffer()));
  const text = await response.text();
  if (response.ok && text === "") return ok(undefined);
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  const value: unknown = isJson ? JSON.parse(text) : undefined;
  if (response.ok && isJson) return ok(value);
  if (!isProblem(value)) {
    return err({ kind: "unreachable", message: `what answered (${response.status}) is no weft server` });
  }
  const { status, code, detail, requestId, retryAfterSeconds } = value;
  const later = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return err({ kind: "refused", status, code, message: detail, requestId, ...later });
}

type ProblemText = {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  readonly retryAfterSeconds?: number;
};

function isProblem(value: unknown): value is ProblemText {
  if (typeof value !== "object" || value === null) return false;
  return "status" in value && "code" in value && "detail" in value && "requestId" in value;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

const TIMEOUT_MS = 60_000;
