import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ApiClient } from "./api/client.ts";
import { TRPCProvider } from "./api/context.ts";
import { type LiveHub, LiveHubContext } from "./api/live/context.ts";
import type { AppRouterInstance } from "./router.tsx";
import { type Clock, ClockProvider } from "./ui/clock.tsx";
import { NoticeProvider } from "./ui/notice.tsx";

export type AppProps = {
  readonly client: ApiClient;
  readonly queryClient: QueryClient;
  readonly router: AppRouterInstance;
  readonly liveHub: LiveHub;
  readonly clock: Clock;
};

/** The providers around the router. */
export function App({ client, queryClient, router, liveHub, clock }: AppProps): ReactNode {
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={client} queryClient={queryClient}>
        <LiveHubContext.Provider value={liveHub}>
          <ClockProvider clock={clock}>
            <NoticeProvider>
              <RouterProvider router={router} />
            </NoticeProvider>
          </ClockProvider>
        </LiveHubContext.Provider>
      </TRPCProvider>
    </QueryClientProvider>
  );
}
