import { type ReactNode, useEffect, useRef, useState } from "react";
import { formatRate } from "../format/rate.ts";
import { strings } from "../strings/index.ts";
import { RateFigures } from "./rate-figures.tsx";
import { createThroughputPlot, type ThroughputColumns, type ThroughputPlot } from "./throughput-plot.ts";

export type ThroughputChartProps = {
  readonly columns: ThroughputColumns;
  /** Changes when the columns have something new; they are the same arrays, filled further. */
  readonly revision: number;
  readonly windowSeconds: number;
  /** What a screen reader hears instead of the picture. */
  readonly label: (rx: string, tx: string) => string;
  readonly emptyHint: string;
};

/** A live chart: received above the axis, sent below, gaps as gaps. The same values are in a table behind it. */
export function ThroughputChart({
  columns,
  revision,
  windowSeconds,
  label,
  emptyHint,
}: ThroughputChartProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<ThroughputPlot | null>(null);
  const [hovered, setHovered] = useState<number | null>(null);

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const created = createThroughputPlot(element, setHovered);
    plot.current = created;
    return () => {
      created.destroy();
      plot.current = null;
    };
  }, []);

  useEffect(() => {
    plot.current?.draw({ columns, revision, windowSeconds });
  }, [columns, revision, windowSeconds]);

  const index = hovered ?? columns.seconds.length - 1;
  const rx = rateAt(columns.rx, index);
  const tx = rateAt(columns.tx, index);
  return (
    <figure className="chart">
      <figcaption className="chart-caption">
        <RateFigures rx={rx} tx={tx} />
        <span className="faint nowrap">{hovered === null ? strings.chart.now : clockTime(columns.seconds[index])}</span>
      </figcaption>
      <div className="chart-place" ref={place} role="img" aria-label={label(rx, tx)}>
        <i className="probe probe-rx" />
        <i className="probe probe-tx" />
        <i className="probe probe-rx-wash" />
        <i className="probe probe-tx-wash" />
        <i className="probe probe-line" />
        <i className="probe probe-ink" />
      </div>
      {columns.seconds.length === 0 ? <p className="chart-empty soft">{emptyHint}</p> : null}
      <LastValues columns={columns} />
    </figure>
  );
}

function LastValues({ columns }: { readonly columns: ThroughputColumns }): ReactNode {
  const [state, setState] = useState<"open" | "closed">("closed");
  const rows = state === "open" ? columns.seconds.slice(-ROWS) : [];
  const first = columns.seconds.length - rows.length;
  return (
    <details className="chart-table" onToggle={(event) => setState(event.currentTarget.open ? "open" : "closed")}>
      <summary>{strings.chart.table}</summary>
      <table className="table table-small" aria-label={strings.chart.table}>
        <thead>
          <tr>
            <th scope="col">{strings.chart.time}</th>
            <th scope="col" data-align="end">
              {strings.common.received}
            </th>
            <th scope="col" data-align="end">
              {strings.common.sent}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((seconds, row) => (
            <tr key={seconds}>
              <td>{clockTime(seconds)}</td>
              <td data-align="end">{rateAt(columns.rx, first + row)}</td>
              <td data-align="end">{rateAt(columns.tx, first + row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function rateAt(column: readonly (number | null)[], index: number): string {
  const value = column[index];
  return value === undefined || value === null ? strings.chart.gap : formatRate(value);
}

function clockTime(seconds: number | undefined): string {
  return seconds === undefined ? "" : CLOCK.format(seconds * 1000);
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const ROWS = 15;
