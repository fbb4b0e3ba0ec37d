import { Link } from "@tanstack/react-router";
import { createColumnHelper, getCoreRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { Route } from "../../../api/types.ts";
import { paths } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Chip } from "../../../ui/chip.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { Menu } from "../../../ui/menu.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { Status, type StatusKind } from "../../../ui/status.tsx";
import type { RouteAction } from "../route-action.ts";
import { peerName, type PeersById, routeTitle, servingText } from "../route-text.ts";
import { type TakeOver, takeOverText } from "../take-overs.ts";

export type RoutesTableProps = {
  readonly routes: readonly Route[];
  readonly peers: PeersById;
  readonly takeOvers: ReadonlyMap<string, TakeOver>;
  readonly mayChange: boolean;
  readonly onAction: (action: RouteAction, route: Route) => void;
};

/** One row a route, in the order of the server. */
export function RoutesTable(props: RoutesTableProps): ReactNode {
  const { routes, peers, takeOvers, mayChange, onAction } = props;
  const columns = useMemo(() => routeColumns(onAction), [onAction]);
  const data = useMemo(
    () => routes.map((route) => ({ route, routes, peers, takeOver: takeOvers.get(route.prefix), mayChange })),
    [routes, peers, takeOvers, mayChange],
  );
  const table = useReactTable({
    data,
    columns,
    enableSorting: false,
    getRowId: ({ route }) => route.id,
    getCoreRowModel: getCoreRowModel(),
  });
  return <DataTable table={table} label={pageStrings.routes.table} />;
}

/** A row carries all that changes, so that live data never makes new cells and an open menu stays. */
type RouteRow = {
  readonly route: Route;
  readonly routes: readonly Route[];
  readonly peers: PeersById;
  readonly takeOver: TakeOver | undefined;
  readonly mayChange: boolean;
};

function routeColumns(onAction: RoutesTableProps["onAction"]) {
  const column = createColumnHelper<RouteRow>();
  const text = pageStrings.routes;
  const head = (name: keyof typeof text.columns) => ({
    header: text.columns[name],
    meta: { label: text.columns[name] },
  });
  return [
    column.accessor("route.prefix", {
      id: "prefix",
      header: text.columns.prefix,
      meta: { label: text.columns.prefix, look: "title" },
      cell: ({ row }) => <PrefixCell route={row.original.route} />,
    }),
    column.display({
      id: "router",
      ...head("router"),
      cell: ({ row }) => <RouterCell {...row.original} />,
    }),
    column.accessor("route.state", {
      id: "state",
      ...head("state"),
      cell: ({ row }) => (
        <Chip tone={row.original.route.state === "approved" ? "good" : "warn"}>
          {text.states[row.original.route.state]}
        </Chip>
      ),
    }),
    column.display({
      id: "serving",
      ...head("serving"),
      cell: ({ row }) => <ServingCell {...row.original} />,
    }),
    column.accessor("route.createdAt", {
      id: "added",
      header: text.columns.added,
      meta: { label: text.columns.added, from: "wide" },
      cell: ({ row }) => <Moment at={row.original.route.createdAt} />,
    }),
    column.display({
      id: "actions",
      header: () => <span className="visually-hidden">{strings.common.actions}</span>,
      meta: { label: strings.common.actions, align: "end", look: "actions" },
      cell: ({ row }) => (
        <RouteMenu
          route={row.original.route}
          title={routeTitle(row.original.route, row.original.peers)}
          mayChange={row.original.mayChange}
          onAction={onAction}
        />
      ),
    }),
  ];
}

function PrefixCell({ route }: { readonly route: Route }): ReactNode {
  const text = pageStrings.routes;
  return (
    <div>
      <span className="with-copy">
        <code>{route.prefix}</code>
        <CopyButton text={route.prefix} what={text.copyPrefix(route.prefix)} />
      </span>
      {route.kind === "exit" ? <Chip tone="accent">{text.exit}</Chip> : null}
      {route.conflicts.length > 0 ? <Chip tone="warn">{text.overlaps(route.conflicts.length)}</Chip> : null}
      {route.description === "" ? null : (
        <div className="cell-note" dir="auto">
          {route.description}
        </div>
      )}
    </div>
  );
}

function RouterCell({ route, peers }: Pick<RouteRow, "route" | "peers">): ReactNode {
  const text = pageStrings.routes;
  const problems = peers.get(route.peerId)?.problems ?? [];
  return (
    <div>
      <Link
        to={paths.peer}
        params={{ networkId: route.networkId, peerId: route.peerId }}
        className="name-link"
        dir="auto"
      >
        {peerName(peers, route.peerId)}
      </Link>
      <div className="row-line">
        <Status kind={PRESENCE[route.router]}>{text.router[route.router]}</Status>
        {problems.length > 0 ? <Status kind="warn">{text.problems(problems.length)}</Status> : null}
      </div>
    </div>
  );
}

function ServingCell({ route, routes, peers, takeOver }: RouteRow): ReactNode {
  const twin = routes.find(({ active, prefix, id }) => active && prefix === route.prefix && id !== route.id);
  const isNewest = route.active && takeOver?.to === route.id;
  return (
    <div className="wraps">
      <Status kind={servingKind(route)}>{servingText(route, peers, twin)}</Status>
      {isNewest ? (
        <div className="cell-note">
          {takeOverText(
            route,
            routes.find(({ id }) => id === takeOver.from),
            peers,
          )}{" "}
          <Moment at={takeOver.at} />
        </div>
      ) : null}
    </div>
  );
}

function servingKind({ state, active, router }: Route): StatusKind {
  if (state === "pending" || !active) return "idle";
  return router === "offline" ? "bad" : router === "unknown" ? "idle" : "good";
}

type RouteMenuProps = Pick<RoutesTableProps, "mayChange" | "onAction"> & {
  readonly route: Route;
  readonly title: string;
};

function RouteMenu({ route, title, mayChange, onAction }: RouteMenuProps): ReactNode {
  const text = pageStrings.routes;
  const isPending = route.state === "pending";
  const act = (action: RouteAction) => (): void => onAction(action, route);
  return (
    <Menu
      label={text.actionsFor(title)}
      trigger={<Icon name="more" />}
      actions={[
        { id: "details", label: text.details, icon: "eye", onAction: act("details") },
        ...(mayChange && isPending
          ? [{ id: "approve", label: text.approve, icon: "check", onAction: act("approve") } as const]
          : []),
        ...(mayChange
          ? [
              { id: "edit", label: text.edit, icon: "pencil", onAction: act("edit") } as const,
              {
                id: "remove",
                label: isPending ? text.refuse : text.remove,
                icon: "trash",
                tone: "danger",
                onAction: act("remove"),
              } as const,
            ]
          : []),
      ]}
    />
  );
}

const PRESENCE: Record<Route["router"], StatusKind> = { online: "good", offline: "bad", unknown: "idle" };
