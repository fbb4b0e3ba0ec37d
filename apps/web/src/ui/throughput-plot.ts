import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { axisCeiling, formatRateShort } from "../format/rate.ts";

/** Columns of rates; `null` marks a gap. */
export type ThroughputColumns = {
  readonly seconds: readonly number[];
  readonly rx: readonly (number | null)[];
  readonly tx: readonly (number | null)[];
};

/** What the plot shows; the columns are filled further in place, so `revision` tells that they changed. */
export type ThroughputView = {
  readonly columns: ThroughputColumns;
  readonly revision: number;
  readonly windowSeconds: number;
};

export type ThroughputPlot = {
  readonly draw: (view: ThroughputView) => void;
  readonly destroy: () => void;
};

/** Makes the canvas chart inside `place` and keeps its size and colours in step with the page. */
export function createThroughputPlot(place: HTMLElement, onHover: (index: number | null) => void): ThroughputPlot {
  let view: ThroughputView = { columns: EMPTY, revision: 0, windowSeconds: 60 };
  let first = 0;
  const color = (name: string) => (): string => probe(place, name);
  const plot = new uPlot(
    plotOptions({
      color,
      onHover: (index) => onHover(index === null ? null : index + first),
    }),
    [[], [], []],
    place,
  );

  function draw(): void {
    const { columns, windowSeconds } = view;
    const end = columns.seconds.at(-1) ?? 0;
    first = firstVisible(columns.seconds, end - windowSeconds);
    plot.batch(() => {
      plot.setData(
        [
          columns.seconds.slice(first),
          columns.rx.slice(first),
          columns.tx.slice(first).map((value) => (value === null ? null : -value)),
        ],
        false,
      );
      const [low, high] = yRange(view);
      plot.setScale("x", { min: end - windowSeconds, max: end });
      plot.setScale("y", { min: low, max: high });
    });
  }

  const sizes = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }));
  sizes.observe(place);
  const repaint = (): void => plot.redraw(false);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", repaint);
  const themes = new MutationObserver(repaint);
  themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });

  return {
    draw(next) {
      view = next;
      draw();
    },
    destroy() {
      sizes.disconnect();
      themes.disconnect();
      dark.removeEventListener("change", repaint);
      plot.destroy();
    },
  };
}

type PlotDeps = {
  readonly color: (name: string) => () => string;
  readonly onHover: (index: number | null) => void;
};

function plotOptions({ color, onHover }: PlotDeps): uPlot.Options {
  const axis = {
    stroke: color("ink"),
    font: `12px ${getComputedStyle(document.documentElement).fontFamily}`,
    grid: { stroke: color("line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: 600,
    height: HEIGHT,
    padding: [8, 22, 0, 0],
    legend: { show: false },
    scales: { x: { time: true }, y: { auto: false } },
    cursor: { drag: { x: false, y: false, setScale: false }, y: false, points: { size: 7 } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 34,
        space: 90,
        values: (plot, ticks) => ticks.map((tick) => clockText(plot, tick)),
      },
      {
        ...axis,
        size: 54,
        splits: (plot) => splits(plot),
        values: (_, ticks) => ticks.map((tick) => formatRateShort(Math.abs(tick))),
      },
    ],
    series: [
      {},
      { stroke: color("rx"), fill: color("rx-wash"), width: 1.5, fillTo: 0, points: { show: false } },
      { stroke: color("tx"), fill: color("tx-wash"), width: 1.5, fillTo: 0, points: { show: false } },
    ],
    hooks: { setCursor: [(plot) => onHover(plot.cursor.idx ?? null)] },
  };
}

/** Seconds matter only while the window is short. */
function clockText(plot: uPlot, seconds: number): string {
  const { min, max } = plot.scales["x"] ?? {};
  return ((max ?? 0) - (min ?? 0) > 120 ? MINUTES : SECONDS).format(seconds * 1000);
}

/** Half, full and zero of each direction, so that both sides can be read although their scales differ. */
function splits(plot: uPlot): number[] {
  const { min, max } = plot.scales["y"] ?? {};
  const low = min ?? 0;
  const high = max ?? 0;
  return [low, low / 2, 0, high / 2, high];
}

/** Each direction has its own ceiling, at least a quarter of the other one; both move in steps. */
function yRange({ columns, windowSeconds }: ThroughputView): [number, number] {
  const first = firstVisible(columns.seconds, (columns.seconds.at(-1) ?? 0) - windowSeconds);
  const peak = (column: readonly (number | null)[]): number =>
    column.slice(first).reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  const high = peak(columns.rx);
  const low = peak(columns.tx);
  const top = axisCeiling(Math.max(high, low / 4));
  const bottom = axisCeiling(Math.max(low, high / 4));
  return [-bottom, top];
}

function firstVisible(seconds: readonly number[], from: number): number {
  const index = seconds.findIndex((at) => at >= from);
  return index === -1 ? seconds.length : index;
}

/** Reads a resolved colour of the style sheet; a canvas cannot read custom properties. */
function probe(place: HTMLElement, name: string): string {
  const element = place.querySelector(`.probe-${name}`);
  return element ? getComputedStyle(element).color : "gray";
}

const MINUTES = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const SECONDS = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const HEIGHT = 260;
const EMPTY: ThroughputColumns = { seconds: [], rx: [], tx: [] };
