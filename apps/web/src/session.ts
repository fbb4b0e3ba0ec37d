import type { QueryClient } from "@tanstack/react-query";
import { redirect } from "@tanstack/react-router";
import type { ApiOptions } from "./api/context.ts";
import { statusOf } from "./api/error-text.ts";
import { lastNetwork } from "./layout/last-network.ts";
import { paths } from "./routes.ts";

/** What the checks of the routes need. */
export type RouterContext = { readonly queryClient: QueryClient; readonly api: ApiOptions };

/** Lets only signed-in people through; before the first owner exists, everybody goes to the set-up. */
export async function requireSession({ queryClient, api }: RouterContext, here: string): Promise<void> {
  if (queryClient.getQueryData(api.sessions.current.queryKey())) return;
  const [setup, session] = await Promise.allSettled([
    queryClient.fetchQuery(api.setup.status.queryOptions()),
    queryClient.fetchQuery({ ...api.sessions.current.queryOptions(), retry: false }),
  ]);
  if (setup.status === "fulfilled" && !setup.value.ownerExists) throw redirect({ to: paths.setup });
  if (session.status === "fulfilled") return;
  if (statusOf(session.reason) !== 401) throw session.reason;
  throw redirect({ to: paths.login, search: here === paths.home ? {} : { next: here } });
}

/** The set-up closes for good after the first owner. */
export async function requireNoOwner({ queryClient, api }: RouterContext): Promise<void> {
  const status = await queryClient.fetchQuery({ ...api.setup.status.queryOptions(), staleTime: 0 });
  if (status.ownerExists) throw redirect({ to: paths.home });
}

/** Before the first owner exists there is nobody who could sign in. */
export async function requireOwner({ queryClient, api }: RouterContext): Promise<void> {
  const status = await queryClient.fetchQuery(api.setup.status.queryOptions());
  if (!status.ownerExists) throw redirect({ to: paths.setup });
}

/** Opens the network that was open last: its overview, or the add-host flow while it has no peer. */
export async function openLastNetwork({ queryClient, api }: RouterContext): Promise<never> {
  const { items } = await queryClient.fetchQuery({ ...api.networks.list.queryOptions({ limit: 500 }), staleTime: 0 });
  const network = items.find((candidate) => candidate.id === lastNetwork.read()) ?? items.at(0);
  if (!network) throw redirect({ to: paths.networks });
  const to = network.peerCount === 0 ? paths.peers : paths.overview;
  throw redirect({ to, params: { networkId: network.id } });
}
