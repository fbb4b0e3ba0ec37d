import {
  createColumnHelper,
  getCoreRowModel,
  getSortedRowModel,
  type SortingState,
  type Updater,
  useReactTable,
} from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { NetworkLive } from "../../../api/live/network-live.ts";
import { createStore, type Store } from "../../../api/live/store.ts";
import { useStore } from "../../../api/live/use-live.ts";
import type { Peer } from "../../../api/types.ts";
import { PEER_SORTS, type PeerSort } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { DataTable } from "../../../ui/data-table.tsx";
import type { PeerAction } from "../peer-action.ts";
import { STANDING_ORDER, standingOf } from "../../../api/presence.ts";
import { AddressesCell, EndpointCell, MapCell, NameCell, SeenCell } from "./peer-cells.tsx";
import { ApprovalButtons } from "./approval-buttons.tsx";
import { GroupNamesProvider, GroupsCell } from "./groups-cell.tsx";
import { PeerStatus } from "./peer-status.tsx";
import { RateCell } from "./rate-cell.tsx";
import { RowMenu } from "./row-menu.tsx";

export type PeerTableProps = {
  readonly networkId: string;
  readonly peers: readonly Peer[];
  readonly live: NetworkLive;
  readonly sort: PeerSort;
  readonly onSort: (sort: PeerSort) => void;
  readonly onAction: (action: PeerAction, peer: Peer) => void;
};

/** Everything about the peers that operators compare, live. */
export function PeerTable({ networkId, peers, live, sort, onSort, onAction }: PeerTableProps): ReactNode {
  const sorting = useMemo(() => sortingOf(sort), [sort]);
  const columns = useMemo(() => peerColumns({ live, onAction }), [live, onAction]);
  // Rates change every second: rows sorted by them need a new list, the others must not be sorted again.
  const moment = useStore(sorting.at(0)?.id === "rate" ? live.samples : STILL);
  const data = useMemo(() => ({ rows: [...peers], moment }).rows, [peers, moment]);

  const table = useReactTable({
    data,
    columns,
    state: { sorting },
    onSortingChange: (updater: Updater<SortingState>) => {
      const next = sortOf(typeof updater === "function" ? updater(sorting) : updater);
      if (next) onSort(next);
    },
    enableSortingRemoval: false,
    enableMultiSort: false,
    getRowId: (peer) => peer.id,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  return (
    <GroupNamesProvider networkId={networkId}>
      <DataTable table={table} label={strings.peers.table} />
    </GroupNamesProvider>
  );
}

type ColumnDeps = Pick<PeerTableProps, "live" | "onAction">;

function peerColumns({ live, onAction }: ColumnDeps) {
  const column = createColumnHelper<Peer>();
  const text = strings.peers.columns;
  return [
    column.accessor((peer) => STANDING_ORDER[standingOf(peer)], {
      id: "status",
      header: text.status,
      meta: { label: text.status },
      cell: ({ row }) => <PeerStatus peer={row.original} />,
    }),
    column.accessor("name", {
      header: text.name,
      meta: { label: text.name, look: "title" },
      sortingFn: (a, b) => NAMES.compare(a.original.name, b.original.name),
      cell: ({ row }) => <NameCell peer={row.original} />,
    }),
    column.display({
      id: "groups",
      header: text.groups,
      meta: { label: text.groups, from: "medium" },
      cell: ({ row }) => <GroupsCell peer={row.original} />,
    }),
    column.display({
      id: "addresses",
      header: text.addresses,
      meta: { label: text.addresses },
      cell: ({ row }) => <AddressesCell peer={row.original} />,
    }),
    column.accessor((peer) => rateOf(live, peer), {
      id: "rate",
      header: text.rate,
      meta: { label: text.rate },
      sortDescFirst: true,
      cell: ({ row }) => <RateCell peer={row.original} live={live} />,
    }),
    column.display({
      id: "endpoint",
      header: text.endpoint,
      meta: { label: text.endpoint, from: "medium" },
      cell: ({ row }) => <EndpointCell peer={row.original} />,
    }),
    column.accessor((peer) => (peer.lastSeenAt ? Date.parse(peer.lastSeenAt) : 0), {
      id: "lastSeen",
      header: text.lastSeen,
      meta: { label: text.lastSeen },
      sortDescFirst: true,
      cell: ({ row }) => <SeenCell peer={row.original} />,
    }),
    column.display({
      id: "map",
      header: text.map,
      meta: { label: text.map, from: "wide" },
      cell: ({ row }) => <MapCell peer={row.original} />,
    }),
    column.display({
      id: "actions",
      header: () => <span className="visually-hidden">{strings.common.actions}</span>,
      meta: { label: strings.common.actions, align: "end", look: "actions" },
      cell: ({ row }) => (
        <span className="rule">
          {row.original.state === "pending" ? <ApprovalButtons peer={row.original} /> : null}
          <RowMenu peer={row.original} onAction={onAction} />
        </span>
      ),
    }),
  ];
}

function rateOf(live: NetworkLive, peer: Peer): number {
  const latest = live.rates(peer.id)?.latest;
  return latest ? latest.rxBitsPerSecond + latest.txBitsPerSecond : -1;
}

function sortingOf(sort: PeerSort): SortingState {
  return sort.startsWith("-") ? [{ id: sort.slice(1), desc: true }] : [{ id: sort, desc: false }];
}

function sortOf(sorting: SortingState): PeerSort | null {
  const first = sorting.at(0);
  const column = PEER_SORTS.find((name) => name === first?.id);
  if (!first || !column) return null;
  return first.desc ? `-${column}` : column;
}

/** Never changes. */
const STILL: Store<number> = createStore(0);

/** Numbers inside names count as numbers: web-2 comes before web-10. */
const NAMES = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
