import { createColumnHelper, getCoreRowModel, getSortedRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import type { Account } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { IconButton } from "../../../ui/button.tsx";
import { Chip, type ChipTone } from "../../../ui/chip.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Moment } from "../../../ui/moment.tsx";

export type PeopleTableProps = {
  readonly people: readonly Account[];
  readonly onChange: (person: Account) => void;
};

/** One row a person. */
export function PeopleTable({ people, onChange }: PeopleTableProps): ReactNode {
  const columns = useMemo(() => personColumns(onChange), [onChange]);
  const data = useMemo(() => [...people], [people]);
  const table = useReactTable({
    data,
    columns,
    initialState: { sorting: [{ id: "login", desc: false }] },
    enableSortingRemoval: false,
    getRowId: (person) => person.id,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  return <DataTable table={table} label={pageStrings.access.people.table} />;
}

function personColumns(onChange: (person: Account) => void) {
  const column = createColumnHelper<Account>();
  const text = pageStrings.access.people;
  return [
    column.accessor("login", {
      header: text.columns.login,
      meta: { label: text.columns.login, look: "title" },
      cell: ({ row }) => <span dir="auto">{row.original.login}</span>,
    }),
    column.accessor("role", {
      header: text.columns.role,
      meta: { label: text.columns.role },
      cell: ({ row }) => pageStrings.access.roles[row.original.role],
    }),
    column.accessor("state", {
      header: text.columns.state,
      meta: { label: text.columns.state },
      cell: ({ row }) => <Chip tone={TONES[row.original.state]}>{text.states[row.original.state]}</Chip>,
    }),
    column.display({
      id: "factor",
      header: text.columns.factor,
      meta: { label: text.columns.factor },
      cell: ({ row }) => text.factor[row.original.hasSecondFactor ? "on" : "off"],
    }),
    column.accessor((person) => (person.lastLoginAt === null ? 0 : Date.parse(person.lastLoginAt)), {
      id: "login-at",
      header: text.columns.lastLogin,
      meta: { label: text.columns.lastLogin },
      cell: ({ row }) =>
        row.original.lastLoginAt === null ? (
          <span className="faint">{strings.common.never}</span>
        ) : (
          <Moment at={row.original.lastLoginAt} />
        ),
    }),
    column.display({
      id: "actions",
      header: () => <span className="visually-hidden">{strings.common.actions}</span>,
      meta: { label: strings.common.actions, align: "end", look: "actions" },
      cell: ({ row }) => (
        <IconButton icon="pencil" label={text.changeLabel(row.original.login)} onPress={() => onChange(row.original)} />
      ),
    }),
  ];
}

const TONES = { active: "good", disabled: "bad", waiting: "warn" } as const satisfies Record<
  Account["state"],
  ChipTone
>;
