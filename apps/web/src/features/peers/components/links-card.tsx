import { Link } from "@tanstack/react-router";
import { createColumnHelper, getCoreRowModel, getSortedRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { PeerLive } from "../../../api/live/peer-live.ts";
import { useStore } from "../../../api/live/use-live.ts";
import type { LinkSample } from "../../../api/types.ts";
import { formatBytes, formatCount } from "../../../format/bytes.ts";
import { formatRate } from "../../../format/rate.ts";
import { formatDuration } from "../../../format/time.ts";
import { paths } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { Card } from "../../../ui/card.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { EmptyPanel } from "../../../ui/panels.tsx";
import { RateFigures } from "../../../ui/rate-figures.tsx";
import { dropTotal } from "../drops.ts";

export type LinksCardProps = { readonly networkId: string; readonly live: PeerLive };

/** Sessions with the other peers: how old, how fresh, how much, what was dropped. */
export function LinksCard({ networkId, live }: LinksCardProps): ReactNode {
  const text = strings.peer.links;
  const sample = useStore(live.sample);
  const columns = useMemo(() => linkColumns(networkId), [networkId]);
  const data = useMemo(() => [...(sample?.links ?? NO_LINKS)], [sample]);
  const table = useReactTable({
    data,
    columns,
    initialState: { sorting: [{ id: "name", desc: false }] },
    enableSortingRemoval: false,
    getRowId: (link) => link.peerId,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  return (
    <Card title={text.title} hint={text.hint} body="flush">
      {data.length === 0 ? <EmptyPanel title={text.empty} /> : <DataTable table={table} label={text.table} />}
    </Card>
  );
}

function linkColumns(networkId: string) {
  const column = createColumnHelper<LinkSample>();
  const text = strings.peer.links;
  return [
    column.accessor("name", {
      header: text.columns.name,
      meta: { label: text.columns.name, look: "title" },
      cell: ({ row }) => (
        <Link to={paths.peer} params={{ networkId, peerId: row.original.peerId }} className="name-link" dir="auto">
          {row.original.name}
        </Link>
      ),
    }),
    column.accessor((link) => link.sessionAgeSeconds ?? -1, {
      id: "session",
      header: text.columns.session,
      meta: { label: text.columns.session },
      cell: ({ row }) => ageText(row.original.sessionAgeSeconds, text.noSession),
    }),
    column.accessor((link) => link.lastHandshakeAgeSeconds ?? -1, {
      id: "handshake",
      header: text.columns.handshake,
      meta: { label: text.columns.handshake },
      cell: ({ row }) => ageText(row.original.lastHandshakeAgeSeconds, strings.common.never),
    }),
    column.accessor((link) => link.rxBitsPerSecond + link.txBitsPerSecond, {
      id: "rate",
      header: text.columns.rate,
      meta: { label: text.columns.rate },
      cell: ({ row }) => (
        <RateFigures rx={formatRate(row.original.rxBitsPerSecond)} tx={formatRate(row.original.txBitsPerSecond)} />
      ),
    }),
    column.accessor((link) => Number(link.rxBytes) + Number(link.txBytes), {
      id: "total",
      header: text.columns.total,
      meta: { label: text.columns.total, from: "medium" },
      cell: ({ row }) => <RateFigures rx={formatBytes(row.original.rxBytes)} tx={formatBytes(row.original.txBytes)} />,
    }),
    column.accessor((link) => Number(dropTotal(link.drops)), {
      id: "drops",
      header: text.columns.drops,
      meta: { label: text.columns.drops, align: "end" },
      cell: ({ row }) => formatCount(dropTotal(row.original.drops)),
    }),
    column.display({
      id: "endpoint",
      header: text.columns.endpoint,
      meta: { label: text.columns.endpoint, from: "medium" },
      cell: ({ row }) => <Endpoint endpoint={row.original.endpoint} />,
    }),
  ];
}

function Endpoint({ endpoint }: { readonly endpoint: string | null }): ReactNode {
  if (endpoint === null) return <span className="faint">{strings.common.none}</span>;
  return (
    <span className="with-copy">
      <code>{endpoint}</code>
      <CopyButton text={endpoint} what={strings.peers.endpointOf(endpoint)} />
    </span>
  );
}

function ageText(seconds: number | null, none: string): ReactNode {
  if (seconds === null) return <span className="faint">{none}</span>;
  return <span className="nowrap">{formatDuration(seconds * 1000)}</span>;
}

const NO_LINKS: readonly LinkSample[] = [];
