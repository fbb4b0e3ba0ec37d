import type { QueryClient } from "@tanstack/react-query";
import type { ApiClient } from "./api/client.ts";
import { createApiOptions, createQueryClient } from "./api/context.ts";
import { createLiveHub, type LiveHub } from "./api/live/context.ts";
import { type AppRouterInstance, createAppRouter, type RouterHistory } from "./router.tsx";

/** Everything the application is made of, wired once. */
export type Dashboard = {
  readonly client: ApiClient;
  readonly queryClient: QueryClient;
  readonly router: AppRouterInstance;
  readonly liveHub: LiveHub;
};

/** Wires client, cache and router. A call that is refused for want of a session leads to the login. */
export function createDashboard(client: ApiClient, history?: RouterHistory): Dashboard {
  const queryClient = createQueryClient(() => {
    const session = api.sessions.current.queryKey();
    if (queryClient.getQueryData(session) === undefined) return;
    queryClient.removeQueries({ queryKey: session });
    void router.invalidate();
  });
  const api = createApiOptions(client, queryClient);
  const router = createAppRouter({ context: { queryClient, api }, ...(history ? { history } : {}) });
  return { client, queryClient, router, liveHub: createLiveHub() };
}
