import { Link } from "@tanstack/react-router";
import { createColumnHelper, getCoreRowModel, getSortedRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { Peer } from "../../../api/types.ts";
import { paths } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { IconButton } from "../../../ui/button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Status } from "../../../ui/status.tsx";
import { exitState } from "../exit-state.ts";
import { peerName, type PeersById } from "../route-text.ts";

export type ExitUsersTableProps = {
  readonly users: readonly Peer[];
  readonly peers: PeersById;
  readonly onChange: ((peer: Peer) => void) | undefined;
};

/** One row a peer whose other traffic leaves through an exit node. */
export function ExitUsersTable({ users, peers, onChange }: ExitUsersTableProps): ReactNode {
  const columns = useMemo(() => userColumns(onChange), [onChange]);
  const data = useMemo(() => users.map((peer) => ({ peer, peers })), [users, peers]);
  const table = useReactTable({
    data,
    columns,
    initialState: { sorting: [{ id: "peer", desc: false }] },
    enableSortingRemoval: false,
    getRowId: ({ peer }) => peer.id,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  return <DataTable table={table} label={pageStrings.exits.table} />;
}

/** A row carries all that changes, so that live data never makes new cells. */
type UserRow = { readonly peer: Peer; readonly peers: PeersById };

function userColumns(onChange: ExitUsersTableProps["onChange"]) {
  const column = createColumnHelper<UserRow>();
  const text = pageStrings.exits;
  const head = (name: keyof typeof text.columns) => ({
    header: text.columns[name],
    meta: { label: text.columns[name] },
  });
  return [
    column.accessor("peer.name", {
      id: "peer",
      header: text.columns.peer,
      meta: { label: text.columns.peer, look: "title" },
      cell: ({
        row: {
          original: { peer },
        },
      }) => (
        <Link to={paths.peer} params={{ networkId: peer.networkId, peerId: peer.id }} className="name-link" dir="auto">
          {peer.name}
        </Link>
      ),
    }),
    column.accessor(({ peer, peers }) => (peer.exit ? peerName(peers, peer.exit.peerId) : ""), {
      id: "exit",
      ...head("exit"),
      cell: ({ getValue }) => <span dir="auto">{getValue()}</span>,
    }),
    column.display({
      id: "now",
      ...head("now"),
      cell: ({ row }) => {
        const state = exitState(row.original.peer, row.original.peers);
        return state ? (
          <div className="wraps">
            <Status kind={state.kind}>{state.sentence}</Status>
            {state.detail === null ? null : <div className="cell-note">{state.detail}</div>}
          </div>
        ) : null;
      },
    }),
    column.display({
      id: "lan",
      ...head("lan"),
      cell: ({ row }) => (row.original.peer.exit ? text.lan[row.original.peer.exit.lan] : null),
    }),
    column.display({
      id: "lost",
      ...head("lost"),
      cell: ({ row }) => (row.original.peer.exit ? text.lost[row.original.peer.exit.lost] : null),
    }),
    ...(onChange
      ? [
          column.display({
            id: "actions",
            header: () => <span className="visually-hidden">{strings.common.actions}</span>,
            meta: { label: strings.common.actions, align: "end", look: "actions" },
            cell: ({ row }) => (
              <IconButton
                icon="pencil"
                label={text.change(row.original.peer.name)}
                onPress={() => onChange(row.original.peer)}
              />
            ),
          }),
        ]
      : []),
  ];
}
