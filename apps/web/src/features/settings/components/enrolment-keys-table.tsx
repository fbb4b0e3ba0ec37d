import { createColumnHelper, getCoreRowModel, getSortedRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { EnrolmentKey } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { IconButton } from "../../../ui/button.tsx";
import { Chip, type ChipTone } from "../../../ui/chip.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Moment } from "../../../ui/moment.tsx";

export type EnrolmentKeysTableProps = {
  readonly keys: readonly EnrolmentKey[];
  readonly onRevoke: (key: EnrolmentKey) => void;
};

/** One row a key: what is left of it and until when. */
export function EnrolmentKeysTable({ keys, onRevoke }: EnrolmentKeysTableProps): ReactNode {
  const columns = useMemo(() => keyColumns(onRevoke), [onRevoke]);
  const data = useMemo(() => [...keys], [keys]);
  const table = useReactTable({
    data,
    columns,
    initialState: { sorting: [{ id: "createdAt", desc: true }] },
    enableSortingRemoval: false,
    getRowId: (key) => key.id,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  return <DataTable table={table} label={pageStrings.settings.keys.table} />;
}

function keyColumns(onRevoke: (key: EnrolmentKey) => void) {
  const column = createColumnHelper<EnrolmentKey>();
  const text = pageStrings.settings.keys;
  return [
    column.accessor("hint", {
      header: text.columns.key,
      meta: { label: text.columns.key, look: "title" },
      cell: ({ row }) => <code>{row.original.hint}</code>,
    }),
    column.accessor("state", {
      header: text.columns.state,
      meta: { label: text.columns.state },
      cell: ({ row }) => <Chip tone={TONES[row.original.state]}>{text.states[row.original.state]}</Chip>,
    }),
    column.accessor("uses", {
      header: text.columns.uses,
      meta: { label: text.columns.uses },
      cell: ({ row }) => text.uses(row.original.uses, row.original.usesMax),
    }),
    column.accessor("expiresAt", {
      header: text.columns.expires,
      meta: { label: text.columns.expires },
      cell: ({ row }) => <Moment at={row.original.expiresAt} />,
    }),
    column.accessor("createdAt", {
      header: text.columns.created,
      meta: { label: text.columns.created },
      cell: ({ row }) => <Moment at={row.original.createdAt} />,
    }),
    column.display({
      id: "actions",
      header: () => <span className="visually-hidden">{strings.common.actions}</span>,
      meta: { label: strings.common.actions, align: "end", look: "actions" },
      cell: ({ row }) =>
        row.original.state === "valid" ? (
          <IconButton icon="trash" label={text.revokeLabel(row.original.hint)} onPress={() => onRevoke(row.original)} />
        ) : null,
    }),
  ];
}

const TONES: Record<EnrolmentKey["state"], ChipTone> = {
  valid: "good",
  spent: "plain",
  expired: "plain",
  revoked: "bad",
};
