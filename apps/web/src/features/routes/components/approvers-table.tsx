import { createColumnHelper, getCoreRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { RouteApprover } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { IconButton } from "../../../ui/button.tsx";
import { Chip } from "../../../ui/chip.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Moment } from "../../../ui/moment.tsx";

export type ApproversTableProps = {
  readonly approvers: readonly RouteApprover[];
  readonly groupNames: ReadonlyMap<string, string>;
  readonly onRemove: ((approver: RouteApprover) => void) | undefined;
};

/** One row an approver, newest first. */
export function ApproversTable({ approvers, groupNames, onRemove }: ApproversTableProps): ReactNode {
  const columns = useMemo(() => approverColumns(onRemove), [onRemove]);
  const data = useMemo(
    () =>
      approvers.map((approver) => ({
        ...approver,
        group: groupNames.get(approver.groupId) ?? pageStrings.approvers.unknownGroup,
      })),
    [approvers, groupNames],
  );
  const table = useReactTable({
    data,
    columns,
    enableSorting: false,
    getRowId: ({ id }) => id,
    getCoreRowModel: getCoreRowModel(),
  });
  return <DataTable table={table} label={pageStrings.approvers.table} />;
}

type ApproverRow = RouteApprover & { readonly group: string };

function approverColumns(onRemove: ApproversTableProps["onRemove"]) {
  const column = createColumnHelper<ApproverRow>();
  const text = pageStrings.approvers;
  return [
    column.accessor("prefix", {
      header: text.columns.prefix,
      meta: { label: text.columns.prefix, look: "title" },
      cell: ({ row: { original } }) => (
        <span className="with-copy">
          <code>{original.prefix}</code>
          <CopyButton text={original.prefix} what={pageStrings.routes.copyPrefix(original.prefix)} />
        </span>
      ),
    }),
    column.accessor("group", {
      header: text.columns.group,
      meta: { label: text.columns.group },
      cell: ({ getValue }) => (
        <Chip tone="accent">
          <span dir="auto">{getValue()}</span>
        </Chip>
      ),
    }),
    column.accessor("createdAt", {
      header: text.columns.added,
      meta: { label: text.columns.added },
      cell: ({ row }) => <Moment at={row.original.createdAt} />,
    }),
    ...(onRemove
      ? [
          column.display({
            id: "actions",
            header: () => <span className="visually-hidden">{strings.common.actions}</span>,
            meta: { label: strings.common.actions, align: "end", look: "actions" },
            cell: ({ row: { original } }) => (
              <IconButton
                icon="trash"
                label={text.removeLabel(original.prefix, original.group)}
                onPress={() => onRemove(original)}
              />
            ),
          }),
        ]
      : []),
  ];
}
