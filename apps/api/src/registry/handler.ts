import type { Result } from "@weft/protocol";
import type { z } from "zod";
import type { Failure } from "../domain/failure.ts";
import type { Call } from "./call.ts";
import type { AnyContract, OperationContract, SubscriptionContract } from "./contract-kit.ts";
import type { FeatureDeps } from "./feature-deps.ts";

/** The function behind one operation. */
type HandlerOf<C extends AnyContract> =
  C extends OperationContract<"query" | "mutation", infer Input, infer Output>
    ? (deps: FeatureDeps, call: Call, input: z.output<Input>) => Promise<Result<z.input<Output>, Failure>>
    : C extends SubscriptionContract<infer Input, infer Event>
      ? (
          deps: FeatureDeps,
          input: z.output<Input>,
          signal: AbortSignal,
        ) => Promise<Result<AsyncIterable<z.input<Event>>, Failure>>
      : never;

/** The functions behind a feature's contracts. */
export type HandlersOf<Contracts extends Record<string, AnyContract>> = {
  readonly [Verb in keyof Contracts]: HandlerOf<Contracts[Verb]>;
};

/** Input of an operation, checked. */
export type InputOf<C extends AnyContract> = z.output<C["input"]>;
/** Output of an operation, before it is encoded. */
type OutputOf<C extends AnyContract> = z.input<C["output"]>;
export type Outcome<C extends AnyContract> = Promise<Result<OutputOf<C>, Failure>>;
