import { TRPCClientError, type TRPCLink } from "@trpc/client";
import { observable } from "@trpc/server/observable";
import type { AppRouter, Inputs, NetworkEvent, Outputs, PeerEvent } from "../api/types.ts";

/** Every call the dashboard can make, as `noun.verb`. */
export type CallPath = {
  [Noun in keyof Inputs]: Noun extends string ? `${Noun}.${Extract<keyof Inputs[Noun], string>}` : never;
}[keyof Inputs];

type Answer<Path extends string, From> = Path extends `${infer Noun}.${infer Verb}`
  ? Noun extends keyof From
    ? Verb extends keyof From[Noun]
      ? From[Noun][Verb]
      : never
    : never
  : never;

/** Answers for calls; the types are those of the real contract. */
export type Handlers = {
  [Path in Exclude<CallPath, `live.${string}`>]?: (
    input: Answer<Path, Inputs>,
  ) => Reply<Answer<Path, Outputs>> | Promise<Reply<Answer<Path, Outputs>>>;
};

/** Some calls answer nothing. */
type Reply<Output> = [Output] extends [never] ? void : Output;

/** Somebody who listens to live data. */
export type LiveListener = {
  readonly input: unknown;
  readonly send: (event: NetworkEvent | PeerEvent) => void;
  /** Breaks the stream as a lost connection would. */
  readonly fail: () => void;
  /** Ends the stream as the server does when its subject is gone. */
  readonly end: () => void;
};

export type InMemoryLink = {
  readonly link: TRPCLink<AppRouter>;
  /** Calls so far, oldest first. */
  readonly calls: readonly { readonly path: string; readonly input: unknown }[];
  readonly listeners: (path: "live.network" | "live.peer") => readonly LiveListener[];
};

/** A refusal of the control plane, with the problem document it would send. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly extra: { readonly loginToken?: string };
  // oxlint-disable-next-line max-params -- reads like the answer
  constructor(status: number, code: string, detail = "", extra: { readonly loginToken?: string } = {}) {
    super(code);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.extra = extra;
  }
}

/** A tRPC link that answers from memory: the client above it is the real one. */
export function createInMemoryLink(handlers: Handlers): InMemoryLink {
  const calls: { path: string; input: unknown }[] = [];
  const listeners = new Map<string, Set<LiveListener>>();
  const byPath = new Map<string, (input: never) => unknown>(Object.entries(handlers));

  const link: TRPCLink<AppRouter> =
    () =>
    ({ op }) =>
      observable((observer) => {
        calls.push({ path: op.path, input: op.input });
        if (op.type === "subscription") {
          const group = listeners.get(op.path) ?? new Set<LiveListener>();
          listeners.set(op.path, group);
          const listener: LiveListener = {
            input: op.input,
            send: (event) => observer.next({ result: { type: "data", data: event } }),
            fail: () => observer.error(TRPCClientError.from(new Error("connection lost"))),
            end: () => observer.complete(),
          };
          group.add(listener);
          return () => group.delete(listener);
        }
        const handler = byPath.get(op.path);
        const run = async (): Promise<unknown> => {
          if (!handler) throw new Refusal(404, "no_such_call", op.path);
          return handler(op.input as never);
        };
        run().then(
          (data) => {
            observer.next({ result: { type: "data", data: data ?? null } });
            return observer.complete();
          },
          (error: unknown) => observer.error(toClientError(error)),
        );
        return () => undefined;
      });

  return { link, calls, listeners: (path) => [...(listeners.get(path) ?? [])] };
}

function toClientError(error: unknown): TRPCClientError<AppRouter> {
  if (!(error instanceof Refusal))
    return TRPCClientError.from(error instanceof Error ? error : new Error(String(error)));
  return TRPCClientError.from<AppRouter>({
    error: {
      code: -32_000,
      message: error.message,
      data: {
        code: "BAD_REQUEST",
        httpStatus: error.status,
        problem: {
          type: "about:blank",
          title: error.code,
          status: error.status,
          detail: error.detail,
          instance: "/test",
          code: error.code,
          requestId: "req_test",
          ...error.extra,
        },
      },
    },
  });
}
