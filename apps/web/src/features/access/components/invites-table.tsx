import { createColumnHelper, getCoreRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { Invite } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { IconButton } from "../../../ui/button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Moment } from "../../../ui/moment.tsx";

export type InvitesTableProps = {
  readonly invites: readonly Invite[];
  readonly onRevoke: (invite: Invite) => void;
};

/** One row an open invite. */
export function InvitesTable({ invites, onRevoke }: InvitesTableProps): ReactNode {
  const columns = useMemo(() => inviteColumns(onRevoke), [onRevoke]);
  const data = useMemo(() => [...invites], [invites]);
  const table = useReactTable({
    data,
    columns,
    enableSorting: false,
    getRowId: (invite) => invite.id,
    getCoreRowModel: getCoreRowModel(),
  });
  return <DataTable table={table} label={pageStrings.access.people.invites} />;
}

function inviteColumns(onRevoke: (invite: Invite) => void) {
  const column = createColumnHelper<Invite>();
  const text = pageStrings.access.people;
  return [
    column.display({
      id: "login",
      header: text.columns.login,
      meta: { label: text.columns.login, look: "title" },
      cell: ({ row }) => <span dir="auto">{row.original.login ?? text.anyone}</span>,
    }),
    column.display({
      id: "role",
      header: text.columns.role,
      meta: { label: text.columns.role },
      cell: ({ row }) => pageStrings.access.roles[row.original.role],
    }),
    column.display({
      id: "expires",
      header: pageStrings.access.columns.expires,
      meta: { label: pageStrings.access.columns.expires },
      cell: ({ row }) => <Moment at={row.original.expiresAt} />,
    }),
    column.display({
      id: "actions",
      header: () => <span className="visually-hidden">{strings.common.actions}</span>,
      meta: { label: strings.common.actions, align: "end", look: "actions" },
      cell: ({ row }) => (
        <IconButton
          icon="trash"
          label={text.revokeInvite(row.original.login ?? text.anyone)}
          onPress={() => onRevoke(row.original)}
        />
      ),
    }),
  ];
}
