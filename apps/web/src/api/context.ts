import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { createTRPCContext, createTRPCOptionsProxy, type TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { AppRouter } from "@weft/api/contract";
import type { ApiClient } from "./client.ts";
import { statusOf, toProblem } from "./error-text.ts";

/** Typed query and mutation options for components. */
export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

/** The same options outside components: for the checks a route makes before it opens. */
export type ApiOptions = TRPCOptionsProxy<AppRouter>;

export function createApiOptions(client: ApiClient, queryClient: QueryClient): ApiOptions {
  return createTRPCOptionsProxy<AppRouter>({ client, queryClient });
}

/**
 * Makes the cache. Nothing polls: subscriptions push, and changes invalidate what they touched.
 *
 * `onUnauthorized` hears of every call that was refused because there is no session.
 */
export function createQueryClient(onUnauthorized: () => void): QueryClient {
  const onError = (error: unknown): void => {
    if (statusOf(error) === 401) onUnauthorized();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && toProblem(error).retry === "helps",
        retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 4_000),
      },
    },
  });
}
