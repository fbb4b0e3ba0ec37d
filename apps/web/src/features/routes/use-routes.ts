import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTRPC, useTRPCClient } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
import type { Inputs, Route, RouteApprover } from "../../api/types.ts";
import { usePages } from "../../api/use-pages.ts";
import type { RoutesSearch } from "../../routes.ts";
import { pageStrings } from "../../strings/pages.ts";
import { useNotify } from "../../ui/notice.tsx";
import type { Pages } from "../../ui/paged-list.tsx";
import type { Problem } from "../../ui/panels.tsx";
import { newestTakeOvers, type TakeOver } from "./take-overs.ts";

/** Routes of a network as the search in the address asks for them. */
export function useRoutePages(networkId: string, { q, state, peer, sort }: RoutesSearch): Pages<Route> {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const asked = {
    networkId,
    limit: PAGE_ROWS,
    count: true,
    ...(q === undefined ? {} : { q }),
    ...(state === undefined ? {} : { state }),
    ...(peer === undefined ? {} : { peerId: peer }),
    ...(sort === undefined ? {} : { sort }),
  };
  return usePages({
    key: [...trpc.routes.list.queryKey(), asked],
    read: (place, signal) => client.routes.list.query({ ...asked, ...place }, { signal }),
  });
}

/** The newest take-over of each range; none while it is not known. */
export function useTakeOvers(networkId: string): ReadonlyMap<string, TakeOver> {
  const trpc = useTRPC();
  const events = useQuery(
    trpc.auditEvents.list.queryOptions({ networkId, action: "routes.takeOver", limit: PAGE_ROWS }),
  );
  const items = events.data?.items;
  return useMemo(() => newestTakeOvers(items ?? []), [items]);
}

/** Other approved routes to the same range. */
export function useStandIns({ id, networkId, prefix }: Route): readonly Route[] {
  const trpc = useTRPC();
  const found = useQuery(
    trpc.routes.list.queryOptions({ networkId, q: prefix, state: "approved", limit: STAND_INS_MAX }),
  );
  return found.data?.items.filter((other) => other.id !== id && other.prefix === prefix) ?? [];
}

/** All routes to everything, waiting ones too; undefined before they came. */
export type ExitRoutes = {
  readonly routes: readonly Route[] | undefined;
  readonly problem: Problem | null;
  readonly retry: () => void;
};

export function useExitRoutes(networkId: string): ExitRoutes {
  const trpc = useTRPC();
  const found = useQuery(trpc.routes.list.queryOptions({ networkId, q: EVERYTHING, limit: STAND_INS_MAX }));
  return {
    routes: found.data?.items.filter(({ kind }) => kind === "exit"),
    problem: found.error ? toProblem(found.error) : null,
    retry: () => void found.refetch(),
  };
}

/** The changes of routes; each says what it did and closes its dialog. */
export function useRouteChanges(onDone: () => void) {
  const { routes } = useTRPCClient();
  const text = pageStrings.routes;
  const done = useDone(onDone);
  return {
    create: useMutation({
      mutationFn: (input: Inputs["routes"]["create"]) => routes.create.mutate(input),
      onSuccess: ({ prefix, state }) => done(state === "approved" ? text.addedApproved(prefix) : text.added(prefix)),
    }),
    update: useMutation({
      mutationFn: (input: Inputs["routes"]["update"]) => routes.update.mutate(input),
      onSuccess: ({ prefix }) => done(text.changed(prefix)),
    }),
    approve: useMutation({
      mutationFn: ({ id }: Route) => routes.approve.mutate({ routeId: id }),
      onSuccess: ({ prefix }) => done(text.approved(prefix)),
    }),
    remove: useMutation({
      mutationFn: ({ id }: Route) => routes.remove.mutate({ routeId: id }),
      onSuccess: (_, { prefix, state }) => done(state === "pending" ? text.refused(prefix) : text.removed(prefix)),
    }),
  };
}

/** The changes of approvers. */
export function useApproverChanges(onDone: () => void) {
  const { routeApprovers } = useTRPCClient();
  const text = pageStrings.approvers;
  const done = useDone(onDone);
  return {
    create: useMutation({
      mutationFn: (input: Inputs["routeApprovers"]["create"]) => routeApprovers.create.mutate(input),
      onSuccess: () => done(text.added),
    }),
    remove: useMutation({
      mutationFn: ({ id }: RouteApprover) => routeApprovers.remove.mutate({ routeApproverId: id }),
      onSuccess: () => done(text.removed),
    }),
  };
}

/** What follows every change here: lists are read anew, the change is confirmed, the dialog goes. */
export function useDone(onDone: () => void): (sentence: string) => void {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  return (sentence) => {
    for (const noun of [trpc.routes, trpc.routeApprovers, trpc.peers, trpc.auditEvents])
      void queryClient.invalidateQueries({ queryKey: noun.pathKey() });
    notify(sentence);
    onDone();
  };
}

/** Part of the text of `0.0.0.0/0` and `::/0`. */
const EVERYTHING = "/0";
const PAGE_ROWS = 100;
const STAND_INS_MAX = 500;
