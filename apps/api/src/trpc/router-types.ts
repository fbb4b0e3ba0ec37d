import type {
  TRPCBuiltRouter,
  TRPCMutationProcedure,
  TRPCQueryProcedure,
  TRPCSubscriptionProcedure,
  TRPCDefaultErrorShape,
} from "@trpc/server";
import type { z } from "zod";
import type { Call } from "../registry/call.ts";
import type { OperationContract, SubscriptionContract } from "../registry/contract-kit.ts";
import type { Contracts } from "../registry/contracts.ts";
import type { Problem } from "../http/problem.ts";

/** The error shape browsers get: tRPC's own plus the problem document REST would have sent. */
export type ErrorShape = Omit<TRPCDefaultErrorShape, "data"> & {
  data: TRPCDefaultErrorShape["data"] & { problem: Problem };
};

type ProcedureOf<C> =
  C extends OperationContract<"query", infer I, infer O>
    ? TRPCQueryProcedure<{ input: z.input<I>; output: z.output<O>; meta: object }>
    : C extends OperationContract<"mutation", infer I, infer O>
      ? TRPCMutationProcedure<{ input: z.input<I>; output: z.output<O>; meta: object }>
      : C extends SubscriptionContract<infer I, infer O>
        ? TRPCSubscriptionProcedure<{
            input: z.input<I>;
            output: AsyncIterable<z.output<O>, void, unknown>;
            meta: object;
          }>
        : never;

/** Procedures as the contracts declare them. */
export type Procedures = {
  [Noun in keyof Contracts]: { [Verb in keyof Contracts[Noun]]: ProcedureOf<Contracts[Noun][Verb]> };
};

/** The router's type, for typed clients. */
export type AppRouter = TRPCBuiltRouter<
  { ctx: Call; meta: object; errorShape: ErrorShape; transformer: false },
  Procedures
>;
