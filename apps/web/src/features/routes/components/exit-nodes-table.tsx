import { Link } from "@tanstack/react-router";
import { createColumnHelper, getCoreRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { Route } from "../../../api/types.ts";
import { paths } from "../../../routes.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Chip } from "../../../ui/chip.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Status } from "../../../ui/status.tsx";
import { peerName, type PeersById } from "../route-text.ts";

export type ExitNodesTableProps = { readonly routes: readonly Route[]; readonly peers: PeersById };

/** One peer that carries others' traffic to the internet, with its routes to everything. */
type ExitNode = {
  readonly peerId: string;
  readonly networkId: string;
  readonly name: string;
  readonly routes: readonly Route[];
  /** How many chose it. */
  readonly users: number;
};

/** One row an exit node: which families it carries and how many chose it. */
export function ExitNodesTable({ routes, peers }: ExitNodesTableProps): ReactNode {
  const data = useMemo(() => nodesOf(routes, peers), [routes, peers]);
  const columns = useMemo(() => nodeColumns(), []);
  const table = useReactTable({
    data,
    columns,
    enableSorting: false,
    getRowId: ({ peerId }) => peerId,
    getCoreRowModel: getCoreRowModel(),
  });
  return <DataTable table={table} label={pageStrings.exits.nodesTable} />;
}

function nodesOf(routes: readonly Route[], peers: PeersById): ExitNode[] {
  return [...new Set(routes.map(({ peerId }) => peerId))].map((peerId) => {
    const own = routes.filter((route) => route.peerId === peerId);
    return {
      peerId,
      networkId: own[0]?.networkId ?? "",
      name: peerName(peers, peerId),
      routes: own,
      users: [...peers.values()].filter(({ exit }) => exit?.peerId === peerId).length,
    };
  });
}

function nodeColumns() {
  const column = createColumnHelper<ExitNode>();
  const text = pageStrings.exits;
  const head = (name: keyof typeof text.columns) => ({
    header: text.columns[name],
    meta: { label: text.columns[name] },
  });
  const families = new Map<string, string>(Object.entries(text.families));
  return [
    column.display({
      id: "exit",
      header: text.columns.exit,
      meta: { label: text.columns.exit, look: "title" },
      cell: ({ row: { original } }) => (
        <Link
          to={paths.peer}
          params={{ networkId: original.networkId, peerId: original.peerId }}
          className="name-link"
          dir="auto"
        >
          {original.name}
        </Link>
      ),
    }),
    column.display({
      id: "now",
      ...head("now"),
      cell: ({ row }) => {
        const router = row.original.routes[0]?.router ?? "unknown";
        const kind = router === "online" ? "good" : router === "offline" ? "bad" : "idle";
        return <Status kind={kind}>{pageStrings.routes.router[router]}</Status>;
      },
    }),
    column.display({
      id: "families",
      ...head("families"),
      cell: ({ row }) => (
        <span className="row-line">
          {row.original.routes.map(({ id, prefix, state }) => {
            const family = families.get(prefix) ?? prefix;
            return (
              <Chip key={id} tone={state === "approved" ? "good" : "warn"}>
                {state === "approved" ? family : text.waits(family)}
              </Chip>
            );
          })}
        </span>
      ),
    }),
    column.accessor("users", head("users")),
  ];
}
