import { createColumnHelper, getCoreRowModel, useReactTable } from "@tanstack/react-table";
import { type ReactNode, useMemo, useState } from "react";
import type { Group, Nameservers } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Chip } from "../../../ui/chip.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { PagedList } from "../../../ui/paged-list.tsx";
import { SearchField } from "../../../ui/search-field.tsx";
import { Status } from "../../../ui/status.tsx";
import { OrderField } from "../components/order-field.tsx";
import { RowButtons } from "../components/row-buttons.tsx";
import { NameserversDialog, RemoveDialog } from "../dialogs/lazy-dialogs.tsx";
import { useGroups, useNameserverPages } from "../use-names.ts";
import type { NamesViewProps } from "./names-view.ts";

type Open =
  | { readonly kind: "save"; readonly group: Nameservers | null }
  | { readonly kind: "remove"; readonly group: Nameservers };

/** Servers that are asked about some domains, or about everything. */
export function ServersView({ networkId, search, onAsk, mayChange }: NamesViewProps): ReactNode {
  const text = pageStrings.servers;
  const pages = useNameserverPages(networkId, search);
  const groups = useGroups(networkId);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);

  return (
    <>
      <div className="toolbar">
        <SearchField
          label={text.search}
          placeholder={text.searchHint}
          value={search.q ?? ""}
          onChange={(q) => onAsk({ ...search, q })}
        />
        <OrderField value={search.sort} onChange={(sort) => onAsk({ ...search, sort })} />
        {mayChange ? (
          <Button look="primary" icon="plus" onPress={() => setOpen({ kind: "save", group: null })}>
            {text.add}
          </Button>
        ) : null}
      </div>
      <PagedList
        pages={pages}
        text={text}
        empty={
          search.q === undefined
            ? { title: text.empty, hint: text.emptyHint }
            : { title: pageStrings.names.emptyFiltered, hint: pageStrings.names.emptyFilteredHint }
        }
      >
        {(items) => <ServersTable items={items} groups={groups} onOpen={mayChange ? setOpen : undefined} />}
      </PagedList>
      {open?.kind === "save" ? (
        <NameserversDialog networkId={networkId} group={open.group} groups={groups} onClose={close} />
      ) : null}
      {open?.kind === "remove" ? (
        <RemoveDialog item={open.group} consequences={text.removeConsequences} onClose={close} />
      ) : null}
    </>
  );
}

type ServersTableProps = {
  readonly items: readonly Nameservers[];
  readonly groups: readonly Group[];
  readonly onOpen: ((open: Open) => void) | undefined;
};

function ServersTable({ items, groups, onOpen }: ServersTableProps): ReactNode {
  const columns = useMemo(() => serverColumns(onOpen), [onOpen]);
  const data = useMemo(() => {
    const names = new Map(groups.map(({ id, name }) => [id, name]));
    return items.map((item) => ({
      item,
      groups: item.groupIds.map((id) => names.get(id) ?? pageStrings.servers.unknownGroup),
    }));
  }, [items, groups]);
  const table = useReactTable({
    data,
    columns,
    enableSorting: false,
    getRowId: ({ item }) => item.id,
    getCoreRowModel: getCoreRowModel(),
  });
  return <DataTable table={table} label={pageStrings.servers.table} />;
}

function serverColumns(onOpen: ServersTableProps["onOpen"]) {
  const column = createColumnHelper<{ readonly item: Nameservers; readonly groups: readonly string[] }>();
  const text = pageStrings.servers;
  const head = (name: keyof typeof text.columns) => ({
    header: text.columns[name],
    meta: { label: text.columns[name] },
  });
  return [
    column.accessor("item.name", {
      id: "name",
      header: text.columns.name,
      meta: { label: text.columns.name, look: "title" },
      cell: ({ row }) => (
        <>
          <span dir="auto">{row.original.item.name}</span>
          {row.original.item.description === "" ? null : (
            <div className="cell-note" dir="auto">
              {row.original.item.description}
            </div>
          )}
        </>
      ),
    }),
    column.display({
      id: "domains",
      ...head("domains"),
      cell: ({ row }) => <Chips words={row.original.item.domains} none={text.everything} />,
    }),
    column.display({
      id: "servers",
      ...head("servers"),
      cell: ({ row }) => (
        <ol className="addresses">
          {row.original.item.servers.map((server) => (
            <li key={server} className="with-copy">
              <code>{server}</code>
              <CopyButton text={server} what={text.copyServer(server)} />
            </li>
          ))}
        </ol>
      ),
    }),
    column.display({
      id: "groups",
      ...head("groups"),
      cell: ({ row }) => <Chips words={row.original.groups} none={text.allNodes} />,
    }),
    column.display({
      id: "state",
      ...head("state"),
      cell: ({ row: { original } }) => (
        <Status kind={original.item.state === "on" ? "good" : "idle"}>{text.states[original.item.state]}</Status>
      ),
    }),
    ...(onOpen
      ? [
          column.display({
            id: "actions",
            header: () => <span className="visually-hidden">{strings.common.actions}</span>,
            meta: { label: strings.common.actions, align: "end", look: "actions" },
            cell: ({ row: { original } }) => (
              <RowButtons
                name={original.item.name}
                onEdit={() => onOpen({ kind: "save", group: original.item })}
                onRemove={() => onOpen({ kind: "remove", group: original.item })}
              />
            ),
          }),
        ]
      : []),
  ];
}

function Chips({ words, none }: { readonly words: readonly string[]; readonly none: string }): ReactNode {
  if (words.length === 0) return <span className="soft">{none}</span>;
  return (
    <span className="row-line">
      {words.map((word) => (
        <Chip key={word}>
          <span dir="auto">{word}</span>
        </Chip>
      ))}
    </span>
  );
}
