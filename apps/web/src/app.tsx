import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { TRPCProvider } from "./api/context.ts";
import { LiveHubContext } from "./api/live/context.ts";
import type { Dashboard } from "./dashboard.ts";
import { type Clock, ClockProvider } from "./ui/clock.tsx";
import { NoticeProvider } from "./ui/notice.tsx";

export type AppProps = { readonly dashboard: Dashboard; readonly clock: Clock };

/** The providers around the router. */
export function App({ dashboard, clock }: AppProps): ReactNode {
  const { client, queryClient, router, liveHub } = dashboard;
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
