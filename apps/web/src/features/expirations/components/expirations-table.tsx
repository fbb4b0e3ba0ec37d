import { Link } from "@tanstack/react-router";
import { createColumnHelper, getCoreRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { Expiration } from "../../../api/types.ts";
import { paths } from "../../../routes.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { DataTable } from "../../../ui/data-table.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { Status, type StatusKind } from "../../../ui/status.tsx";

/** One row each, in the order of the server. */
export function ExpirationsTable({ expirations }: { readonly expirations: readonly Expiration[] }): ReactNode {
  const data = useMemo(() => [...expirations], [expirations]);
  const table = useReactTable({
    data,
    columns: COLUMNS,
    enableSorting: false,
    getRowId: ({ kind, id }) => `${kind} ${id}`,
    getCoreRowModel: getCoreRowModel(),
  });
  return <DataTable table={table} label={pageStrings.expirations.table} />;
}

/** Leads to where it can be prolonged or replaced. */
function NameLink({ expiration }: { readonly expiration: Expiration }): ReactNode {
  const { kind, id, name, networkId } = expiration;
  const label = <span dir="auto">{name}</span>;
  if (networkId === null) return <Link to={paths.access}>{label}</Link>;
  if (kind !== "peer") {
    return (
      <Link to={paths.settings} params={{ networkId }}>
        {label}
      </Link>
    );
  }
  return (
    <Link to={paths.peer} params={{ networkId, peerId: id }}>
      {label}
    </Link>
  );
}

const column = createColumnHelper<Expiration>();
const text = pageStrings.expirations;
const COLUMNS = [
  column.accessor("name", {
    header: text.columns.name,
    meta: { label: text.columns.name, look: "title" },
    cell: ({ row }) => <NameLink expiration={row.original} />,
  }),
  column.accessor("kind", {
    header: text.columns.kind,
    meta: { label: text.columns.kind },
    cell: ({ row }) => text.kinds[row.original.kind],
  }),
  column.accessor("warning", {
    header: text.columns.warning,
    meta: { label: text.columns.warning },
    cell: ({ row }) => <Status kind={URGENCY[row.original.warning]}>{text.warnings[row.original.warning]}</Status>,
  }),
  column.accessor("expiresAt", {
    header: text.columns.expiresAt,
    meta: { label: text.columns.expiresAt },
    cell: ({ row }) => <Moment at={row.original.expiresAt} />,
  }),
];
const URGENCY: Record<Expiration["warning"], StatusKind> = { day: "bad", week: "warn", month: "busy", none: "idle" };
