import type { AppRouter } from "@weft/api/contract";
import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink, type TRPCClient } from "@trpc/client";

export type ApiClient = TRPCClient<AppRouter>;

/** Makes the client of the control plane: calls of one moment share a request, live data comes as server-sent events. */
export function createApiClient(url: string): ApiClient {
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: (operation) => operation.type === "subscription",
        true: httpSubscriptionLink({ url }),
        false: httpBatchLink({ url, maxItems: 20 }),
      }),
    ],
  });
}
