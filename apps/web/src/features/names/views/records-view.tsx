import { useQuery } from "@tanstack/react-query";
import { createColumnHelper, getCoreRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo, useState } from "react";
import { useTRPC } from "../../../api/context.ts";
import type { NameRecord } from "../../../api/types.ts";
import { RECORD_TYPES } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Chip } from "../../../ui/chip.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { PagedList } from "../../../ui/paged-list.tsx";
import { SearchField } from "../../../ui/search-field.tsx";
import { Select } from "../../../ui/select.tsx";
import { OrderField } from "../components/order-field.tsx";
import { RowButtons } from "../components/row-buttons.tsx";
import { RecordDialog, RemoveDialog } from "../dialogs/lazy-dialogs.tsx";
import { useRecordPages } from "../use-names.ts";
import type { NamesViewProps } from "./names-view.ts";

type Open =
  | { readonly kind: "save"; readonly record: NameRecord | null }
  | { readonly kind: "remove"; readonly record: NameRecord };

/** The names that administrators gave. */
export function RecordsView({ networkId, search, onAsk, mayChange }: NamesViewProps): ReactNode {
  const text = pageStrings.records;
  const trpc = useTRPC();
  const settings = useQuery(trpc.nameSettings.get.queryOptions({ networkId })).data;
  const pages = useRecordPages(networkId, search);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const isFiltered = search.q !== undefined || search.type !== undefined;

  return (
    <>
      <div className="toolbar">
        <SearchField
          label={text.search}
          placeholder={text.searchHint}
          value={search.q ?? ""}
          onChange={(q) => onAsk({ ...search, q })}
        />
        <Select
          label={text.type}
          value={search.type ?? ALL}
          onChange={(value) => onAsk({ ...search, type: RECORD_TYPES.find((known) => known === value) })}
          options={[{ value: ALL, label: text.allTypes }, ...RECORD_TYPES.map((value) => ({ value, label: value }))]}
        />
        <OrderField value={search.sort} onChange={(sort) => onAsk({ ...search, sort })} />
        {mayChange ? (
          <Button look="primary" icon="plus" onPress={() => setOpen({ kind: "save", record: null })}>
            {text.add}
          </Button>
        ) : null}
      </div>
      <PagedList
        pages={pages}
        text={text}
        empty={
          isFiltered
            ? { title: pageStrings.names.emptyFiltered, hint: pageStrings.names.emptyFilteredHint }
            : { title: text.empty, hint: text.emptyHint }
        }
      >
        {(items) => <RecordsTable records={items} domain={settings?.domain} onOpen={mayChange ? setOpen : undefined} />}
      </PagedList>
      {open?.kind === "save" ? (
        <RecordDialog networkId={networkId} domain={settings?.domain ?? ""} record={open.record} onClose={close} />
      ) : null}
      {open?.kind === "remove" ? (
        <RemoveDialog item={open.record} consequences={text.removeConsequences(open.record.name)} onClose={close} />
      ) : null}
    </>
  );
}

type RecordsTableProps = {
  readonly records: readonly NameRecord[];
  readonly domain: string | undefined;
  readonly onOpen: ((open: Open) => void) | undefined;
};

function RecordsTable({ records, domain, onOpen }: RecordsTableProps): ReactNode {
  const columns = useMemo(() => recordColumns(onOpen), [onOpen]);
  const data = useMemo(
    () => records.map((record) => ({ record, full: fullName(record.name, domain) })),
    [records, domain],
  );
  const table = useReactTable({
    data,
    columns,
    enableSorting: false,
    getRowId: ({ record }) => record.id,
    getCoreRowModel: getCoreRowModel(),
  });
  return <DataTable table={table} label={pageStrings.records.table} />;
}

function recordColumns(onOpen: RecordsTableProps["onOpen"]) {
  const column = createColumnHelper<{ readonly record: NameRecord; readonly full: string }>();
  const text = pageStrings.records;
  return [
    column.accessor("full", {
      header: text.columns.name,
      meta: { label: text.columns.name, look: "title" },
      cell: ({ row: { original } }) => (
        <>
          <span className="with-copy">
            <code>{original.full}</code>
            <CopyButton text={original.full} what={text.copyName(original.full)} />
          </span>
          {original.record.description === "" ? null : (
            <div className="cell-note" dir="auto">
              {original.record.description}
            </div>
          )}
        </>
      ),
    }),
    column.accessor("record.type", {
      id: "type",
      header: text.columns.type,
      meta: { label: text.columns.type },
      cell: ({ getValue }) => <Chip>{getValue()}</Chip>,
    }),
    column.accessor("record.value", {
      id: "value",
      header: text.columns.value,
      meta: { label: text.columns.value },
      cell: ({ getValue }) => (
        <span className="with-copy">
          <code>{getValue()}</code>
          <CopyButton text={getValue()} what={text.copyValue(getValue())} />
        </span>
      ),
    }),
    column.accessor("record.ttlSeconds", {
      id: "ttl",
      header: text.columns.ttl,
      meta: { label: text.columns.ttl, from: "medium" },
      cell: ({ getValue }) => text.ttl(getValue()),
    }),
    column.accessor("record.createdAt", {
      id: "added",
      header: text.columns.added,
      meta: { label: text.columns.added, from: "wide" },
      cell: ({ getValue }) => <Moment at={getValue()} />,
    }),
    ...(onOpen
      ? [
          column.display({
            id: "actions",
            header: () => <span className="visually-hidden">{strings.common.actions}</span>,
            meta: { label: strings.common.actions, align: "end", look: "actions" },
            cell: ({ row: { original } }) => (
              <RowButtons
                name={`${original.record.name} ${original.record.type}`}
                onEdit={() => onOpen({ kind: "save", record: original.record })}
                onRemove={() => onOpen({ kind: "remove", record: original.record })}
              />
            ),
          }),
        ]
      : []),
  ];
}

function fullName(name: string, domain: string | undefined): string {
  if (domain === undefined) return name;
  return name === APEX ? domain : `${name}.${domain}`;
}

/** Stands for the domain itself. */
const APEX = "@";
const ALL: string = "";
