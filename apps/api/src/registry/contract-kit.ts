import { z } from "zod";
import type { Access } from "./access.ts";
import type { ListSpec } from "./list-kit.ts";
import type { VersionedKind } from "./versions.ts";

/** Where an operation is found on REST. */
type RestRoute = {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Path below `/api/v1`; parameters in braces are fields of the input. */
  readonly path: `/${string}`;
  /** Status of success; 204 sends no body. */
  readonly status: 200 | 201 | 204;
  /** Path of what was created, filled from the output; for the `Location` header. */
  readonly location?: `/${string}`;
  /** Set when the answer is a file: its media type. The output says where it lies; such an operation is on REST only. */
  readonly download?: string;
  /** Kind of the item in the answer; it goes out with its entity tag. */
  readonly tagged?: VersionedKind;
  /** Whether `If-Match` may or must say which version of the item the call is about. */
  readonly ifMatch?: "honoured" | "required";
};

/** One operation as every surface sees it, without its implementation. */
export type OperationContract<
  Kind extends "query" | "mutation" = "query" | "mutation",
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
> = {
  readonly kind: Kind;
  readonly summary: string;
  readonly rest: RestRoute;
  readonly access: Access;
  /** Set for lists: which orders and filters are offered. */
  readonly list?: ListSpec;
  readonly input: Input;
  readonly output: Output;
};

/** A stream of events; offered to browsers over tRPC only. */
export type SubscriptionContract<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> = {
  readonly kind: "subscription";
  readonly summary: string;
  readonly access: Access;
  readonly input: Input;
  /** One event. */
  readonly output: Output;
};

export type AnyContract = OperationContract | SubscriptionContract;

type Declaration<Input extends z.ZodType, Output extends z.ZodType> = Omit<
  OperationContract<"query", Input, Output>,
  "kind"
>;

/** Declares an operation that changes nothing. */
export function query<Input extends z.ZodType, Output extends z.ZodType>(
  declaration: Declaration<Input, Output>,
): OperationContract<"query", Input, Output> {
  return { kind: "query", ...declaration };
}

/** Declares an operation that changes something; the registry asks for same-origin proof. */
export function mutation<Input extends z.ZodType, Output extends z.ZodType>(
  declaration: Declaration<Input, Output>,
): OperationContract<"mutation", Input, Output> {
  return { kind: "mutation", ...declaration };
}

/** Declares a stream of events. */
export function subscription<Input extends z.ZodType, Output extends z.ZodType>(
  declaration: Omit<SubscriptionContract<Input, Output>, "kind">,
): SubscriptionContract<Input, Output> {
  return { kind: "subscription", ...declaration };
}

/** Input of operations that take nothing; tRPC callers may leave it out. */
export const NoInput = z.void();
/** Output of operations that answer with nothing. */
export const NoOutput = z.void();
