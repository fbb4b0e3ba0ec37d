import { type ReactNode, useCallback, useState } from "react";
import type { Route } from "../../../api/types.ts";
import type { HasRole } from "../../../api/use-role.ts";
import { AGE_ORDERS, ROUTE_STATES, type RoutesSearch } from "../../../routes.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { PagedList } from "../../../ui/paged-list.tsx";
import { SearchField } from "../../../ui/search-field.tsx";
import { Select } from "../../../ui/select.tsx";
import { RoutesTable } from "../components/routes-table.tsx";
import {
  ApproveRouteDialog,
  EditRouteDialog,
  RemoveRouteDialog,
  RouteDetailsDialog,
} from "../dialogs/lazy-dialogs.tsx";
import type { RouteAction } from "../route-action.ts";
import { peerName, type PeersById } from "../route-text.ts";
import { useRoutePages, useTakeOvers } from "../use-routes.ts";

export type RoutesViewProps = {
  readonly networkId: string;
  readonly peers: PeersById;
  readonly search: RoutesSearch;
  readonly onAsk: (search: Draft) => void;
  readonly hasRole: HasRole;
};

/** A search some parts of which may be open. */
type Draft = { readonly [Part in keyof RoutesSearch]: RoutesSearch[Part] | undefined };

/** The ranges behind peers. */
export function RoutesView({ networkId, peers, search, onAsk, hasRole }: RoutesViewProps): ReactNode {
  const text = pageStrings.routes;
  const pages = useRoutePages(networkId, search);
  const takeOvers = useTakeOvers(networkId);
  const [open, setOpen] = useState<{ readonly action: RouteAction; readonly route: Route } | null>(null);
  const act = useCallback((action: RouteAction, route: Route) => setOpen({ action, route }), []);
  const close = (): void => setOpen(null);
  const isFiltered = [search.q, search.state, search.peer].some((part) => part !== undefined);
  // Of the rows, what the server says now: a dialog that stays open follows.
  const route = open && (pages.items?.find(({ id }) => id === open.route.id) ?? open.route);
  const dialog = route ? { route, peers, onClose: close } : null;

  return (
    <>
      <Filters peers={peers} search={search} onAsk={onAsk} />
      <PagedList
        pages={pages}
        text={text}
        empty={
          isFiltered
            ? { title: text.emptyFiltered, hint: text.emptyFilteredHint }
            : { title: text.empty, hint: text.emptyHint }
        }
      >
        {(items) => (
          <RoutesTable routes={items} peers={peers} takeOvers={takeOvers} mayChange={hasRole("admin")} onAction={act} />
        )}
      </PagedList>
      {dialog && open?.action === "details" ? <RouteDetailsDialog {...dialog} /> : null}
      {dialog && open?.action === "approve" ? <ApproveRouteDialog {...dialog} /> : null}
      {dialog && open?.action === "edit" ? <EditRouteDialog {...dialog} /> : null}
      {dialog && open?.action === "remove" ? <RemoveRouteDialog {...dialog} /> : null}
    </>
  );
}

function Filters({ peers, search, onAsk }: Pick<RoutesViewProps, "peers" | "search" | "onAsk">): ReactNode {
  const text = pageStrings.routes;
  const { q, state, peer, sort } = search;
  return (
    <div className="toolbar">
      <SearchField
        label={text.search}
        placeholder={text.searchHint}
        value={q ?? ""}
        onChange={(value) => onAsk({ ...search, q: value })}
      />
      <Select
        label={text.state}
        value={state ?? ALL}
        onChange={(value) => onAsk({ ...search, state: ROUTE_STATES.find((known) => known === value) })}
        options={[
          { value: ALL, label: text.allStates },
          ...ROUTE_STATES.map((value) => ({ value, label: text.states[value] })),
        ]}
      />
      <Select
        label={text.order}
        value={sort ?? AGE_ORDERS[0]}
        onChange={(value) => onAsk({ ...search, sort: value })}
        options={AGE_ORDERS.map((value) => ({ value, label: text.orders[value] }))}
      />
      {peer === undefined ? null : (
        <span className="row-line">
          <span>{text.onlyOf(peerName(peers, peer))}</span>
          <Button look="quiet" onPress={() => onAsk({ ...search, peer: undefined })}>
            {text.showAll}
          </Button>
        </span>
      )}
    </div>
  );
}

const ALL: string = "";
