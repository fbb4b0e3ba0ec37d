import { createColumnHelper, getCoreRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { Session } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Chip } from "../../../ui/chip.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Moment } from "../../../ui/moment.tsx";

export type SessionsTableProps = {
  readonly sessions: readonly Session[];
  readonly onEnd: (session: Session) => void;
};

/** One row a browser that is signed in. */
export function SessionsTable({ sessions, onEnd }: SessionsTableProps): ReactNode {
  const columns = useMemo(() => sessionColumns(onEnd), [onEnd]);
  const data = useMemo(() => [...sessions], [sessions]);
  const table = useReactTable({
    data,
    columns,
    enableSorting: false,
    getRowId: (session) => session.id,
    getCoreRowModel: getCoreRowModel(),
  });
  return <DataTable table={table} label={pageStrings.access.account.sessions} />;
}

function sessionColumns(onEnd: (session: Session) => void) {
  const column = createColumnHelper<Session>();
  const text = pageStrings.access.account;
  return [
    column.display({
      id: "browser",
      header: text.columns.browser,
      meta: { label: text.columns.browser, look: "title" },
      cell: ({ row }) => <span dir="auto">{row.original.userAgent || text.unknownBrowser}</span>,
    }),
    column.display({
      id: "address",
      header: text.columns.address,
      meta: { label: text.columns.address },
      cell: ({ row }) => <code>{row.original.address}</code>,
    }),
    column.display({
      id: "seen",
      header: text.columns.seen,
      meta: { label: text.columns.seen },
      cell: ({ row }) => <Moment at={row.original.lastSeenAt} />,
    }),
    column.display({
      id: "actions",
      header: () => <span className="visually-hidden">{strings.common.actions}</span>,
      meta: { label: strings.common.actions, align: "end", look: "actions" },
      cell: ({ row }) =>
        row.original.isCurrent ? (
          <Chip tone="good">{text.thisOne}</Chip>
        ) : (
          <Button look="quiet" onPress={() => onEnd(row.original)}>
            {text.end}
          </Button>
        ),
    }),
  ];
}
