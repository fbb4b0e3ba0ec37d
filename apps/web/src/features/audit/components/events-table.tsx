import { createColumnHelper, getCoreRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { AuditEvent } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { IconButton } from "../../../ui/button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Moment } from "../../../ui/moment.tsx";

export type EventsTableProps = {
  readonly events: readonly AuditEvent[];
  readonly onShow: (event: AuditEvent) => void;
};

/** One row an event, in the order of the server. */
export function EventsTable({ events, onShow }: EventsTableProps): ReactNode {
  const columns = useMemo(() => eventColumns(onShow), [onShow]);
  const data = useMemo(() => [...events], [events]);
  const table = useReactTable({
    data,
    columns,
    enableSorting: false,
    getRowId: (event) => event.id,
    getCoreRowModel: getCoreRowModel(),
  });
  return <DataTable table={table} label={pageStrings.audit.table} />;
}

function eventColumns(onShow: (event: AuditEvent) => void) {
  const column = createColumnHelper<AuditEvent>();
  const text = pageStrings.audit;
  const head = (name: keyof typeof text.columns) => ({
    header: text.columns[name],
    meta: { label: text.columns[name] },
  });
  return [
    column.accessor("at", { ...head("at"), cell: ({ row }) => <Moment at={row.original.at} /> }),
    column.display({
      id: "actor",
      ...head("actor"),
      cell: ({ row }) => <span dir="auto">{actorName(row.original)}</span>,
    }),
    column.accessor("action", {
      header: text.columns.action,
      meta: { label: text.columns.action, look: "title" },
      cell: ({ row }) => <code>{row.original.action}</code>,
    }),
    column.display({
      id: "object",
      ...head("object"),
      cell: ({ row }) => <code className="soft">{row.original.objectId ?? strings.common.dash}</code>,
    }),
    column.accessor("address", {
      header: text.columns.address,
      meta: { label: text.columns.address, from: "wide" },
      cell: ({ row }) => <code className="faint">{row.original.address}</code>,
    }),
    column.display({
      id: "actions",
      header: () => <span className="visually-hidden">{strings.common.actions}</span>,
      meta: { label: strings.common.actions, align: "end", look: "actions" },
      cell: ({ row }) => (
        <IconButton icon="eye" label={text.show(row.original.action)} onPress={() => onShow(row.original)} />
      ),
    }),
  ];
}

function actorName({ actor }: AuditEvent): string {
  return actor.login ?? pageStrings.audit.actors[actor.kind];
}
