import { createColumnHelper, getCoreRowModel, getSortedRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { Token } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { IconButton } from "../../../ui/button.tsx";
import { Chip } from "../../../ui/chip.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Moment } from "../../../ui/moment.tsx";

export type TokensTableProps = { readonly tokens: readonly Token[]; readonly onRevoke: (token: Token) => void };

/** One row a token. */
export function TokensTable({ tokens, onRevoke }: TokensTableProps): ReactNode {
  const columns = useMemo(() => tokenColumns(onRevoke), [onRevoke]);
  const data = useMemo(() => [...tokens], [tokens]);
  const table = useReactTable({
    data,
    columns,
    initialState: { sorting: [{ id: "name", desc: false }] },
    enableSortingRemoval: false,
    getRowId: (token) => token.id,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  return <DataTable table={table} label={pageStrings.access.table} />;
}

function tokenColumns(onRevoke: (token: Token) => void) {
  const column = createColumnHelper<Token>();
  const text = pageStrings.access;
  return [
    column.accessor("name", {
      header: text.columns.name,
      meta: { label: text.columns.name, look: "title" },
      cell: ({ row }) => <span dir="auto">{row.original.name}</span>,
    }),
    column.display({
      id: "hint",
      header: text.columns.token,
      meta: { label: text.columns.token },
      cell: ({ row }) => <code>{row.original.hint}</code>,
    }),
    column.display({
      id: "scopes",
      header: text.columns.scopes,
      meta: { label: text.columns.scopes },
      cell: ({ row }) => (
        <span className="chips">
          {row.original.scopes.map((scope) => (
            <Chip key={scope}>{scope}</Chip>
          ))}
        </span>
      ),
    }),
    column.accessor((token) => moment(token.lastUsedAt), {
      id: "used",
      header: text.columns.used,
      meta: { label: text.columns.used },
      cell: ({ row }) => <MaybeMoment at={row.original.lastUsedAt} />,
    }),
    column.accessor((token) => moment(token.expiresAt), {
      id: "expires",
      header: text.columns.expires,
      meta: { label: text.columns.expires },
      cell: ({ row }) => <MaybeMoment at={row.original.expiresAt} />,
    }),
    column.display({
      id: "actions",
      header: () => <span className="visually-hidden">{strings.common.actions}</span>,
      meta: { label: strings.common.actions, align: "end", look: "actions" },
      cell: ({ row }) => (
        <IconButton icon="trash" label={text.revokeLabel(row.original.name)} onPress={() => onRevoke(row.original)} />
      ),
    }),
  ];
}

function MaybeMoment({ at }: { readonly at: string | null }): ReactNode {
  return at === null ? <span className="faint">{strings.common.never}</span> : <Moment at={at} />;
}

function moment(at: string | null): number {
  return at === null ? 0 : Date.parse(at);
}
