import { QueryClient } from "@tanstack/react-query";
import { createTRPCContext, createTRPCOptionsProxy, type TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { AppRouter } from "@weft/api/contract";
import type { ApiClient } from "./client.ts";
import { toProblem } from "./error-text.ts";

/** Typed query and mutation options for components. */
export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

/** The same options outside components: for the checks a route makes before it opens. */
export type ApiOptions = TRPCOptionsProxy<AppRouter>;

export function createApiOptions(client: ApiClient, queryClient: QueryClient): ApiOptions {
  return createTRPCOptionsProxy<AppRouter>({ client, queryClient });
}

/** The cache. Nothing polls: subscriptions push, and changes invalidate what they touched. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && toProblem(error).retry === "helps",
        retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 4_000),
      },
    },
  });
}
