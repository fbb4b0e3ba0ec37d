import { flexRender, type Header, type Row, type RowData, type Table } from "@tanstack/react-table";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { Icon } from "./icon.tsx";

declare module "@tanstack/react-table" {
  // The type parameters must be repeated for the declarations to merge.
  // oxlint-disable-next-line no-unused-vars
  interface ColumnMeta<TData extends RowData, TValue> {
    /** The words of the head, for the narrow layout where each cell carries its own. */
    readonly label: string;
    readonly align?: "start" | "end";
    /** Left out where there is little room. */
    readonly from?: "wide" | "medium";
    readonly look?: "title" | "actions";
  }
}

export type DataTableProps<Data> = {
  readonly table: Table<Data>;
  /** Accessible name. */
  readonly label: string;
  /** Height of a row before it is measured. */
  readonly rowHeight?: number;
};

/** A table with sortable heads that keeps only the visible rows in the page when there are many. */
export function DataTable<Data>({ table, label, rowHeight = 57 }: DataTableProps<Data>): ReactNode {
  const rows = table.getRowModel().rows;
  const frame = useRef<HTMLDivElement>(null);
  const view = useVisibleRows(rows, { frame, rowHeight });

  return (
    <div className="table-frame" ref={frame}>
      <table className="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} aria-rowindex={1}>
              {group.headers.map((header) => (
                <Head key={header.id} header={header} />
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          <Spacer height={view.before} columns={table.getVisibleLeafColumns().length} />
          {view.rows.map((row) => (
            <tr key={row.id} aria-rowindex={row.position + 2} data-index={row.position} ref={view.measure}>
              {row.row.getVisibleCells().map((cell) => {
                const meta = cell.column.columnDef.meta;
                return (
                  <td
                    key={cell.id}
                    data-label={meta?.label}
                    data-align={meta?.align}
                    data-from={meta?.from}
                    data-look={meta?.look}
                  >
                    {flexRender(cell.column.columnDef.cell, cell.getContext())}
                  </td>
                );
              })}
            </tr>
          ))}
          <Spacer height={view.after} columns={table.getVisibleLeafColumns().length} />
        </tbody>
      </table>
    </div>
  );
}

function Head<Data>({ header }: { readonly header: Header<Data, unknown> }): ReactNode {
  const { column } = header;
  const meta = column.columnDef.meta;
  const sorted = column.getIsSorted();
  const words = flexRender(column.columnDef.header, header.getContext());
  return (
    <th
      scope="col"
      data-align={meta?.align}
      data-from={meta?.from}
      data-look={meta?.look}
      {...(column.getCanSort() ? { "aria-sort": sorted ? ORDER[sorted] : "none" } : {})}
    >
      {column.getCanSort() ? (
        <button type="button" className="sort" onClick={column.getToggleSortingHandler()}>
          {words}
          <span className="sort-mark" data-sorted={sorted || "no"}>
            <Icon name={sorted === "desc" ? "down" : "up"} size={13} />
          </span>
        </button>
      ) : (
        words
      )}
    </th>
  );
}

function Spacer({ height, columns }: { readonly height: number; readonly columns: number }): ReactNode {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true" className="spacer">
      <td colSpan={columns} style={{ height }}>
        {NOTHING}
      </td>
    </tr>
  );
}

type VisibleRows<Data> = {
  readonly rows: readonly { readonly id: string; readonly position: number; readonly row: Row<Data> }[];
  readonly before: number;
  readonly after: number;
  readonly measure: ((element: HTMLTableRowElement | null) => void) | undefined;
};

type VisibleRowsOptions = { readonly frame: { readonly current: HTMLDivElement | null }; readonly rowHeight: number };

function useVisibleRows<Data>(rows: readonly Row<Data>[], { frame, rowHeight }: VisibleRowsOptions): VisibleRows<Data> {
  const many = rows.length > WINDOW_FROM_ROWS;
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element) setTop(element.getBoundingClientRect().top + window.scrollY);
  }, [frame, many]);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    // A row that is not laid out (yet) has no height; counting it as zero would pull in all the others.
    measureElement: (element) => element.getBoundingClientRect().height || rowHeight,
    scrollMargin: top,
    enabled: many,
  });
  if (!many) {
    return {
      rows: rows.map((row, position) => ({ id: row.id, position, row })),
      before: 0,
      after: 0,
      measure: undefined,
    };
  }

  const items = virtualizer.getVirtualItems();
  const first = items.at(0);
  const last = items.at(-1);
  return {
    rows: items.flatMap((item) => {
      const row = rows.at(item.index);
      return row ? [{ id: row.id, position: item.index, row }] : [];
    }),
    before: first ? first.start - top : 0,
    after: last ? virtualizer.getTotalSize() - (last.end - top) : 0,
    measure: virtualizer.measureElement,
  };
}

/** Keeps the cell from being empty; nobody sees or hears it. */
const NOTHING = "\u00a0";

const ORDER = { asc: "ascending", desc: "descending" } as const;

/** Below this many rows the whole table is in the page, so that the browser's own search finds everything. */
const WINDOW_FROM_ROWS = 100;
