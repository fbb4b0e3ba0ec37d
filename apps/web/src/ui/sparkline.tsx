import type { ReactNode } from "react";

/** One direction's values; `null` is a gap and is drawn as one. */
export type SparkSeries = readonly (number | null)[];

export type SparklineProps = {
  readonly rx: SparkSeries;
  readonly tx: SparkSeries;
  /** How many steps the window holds; the newest is at the right edge. */
  readonly steps: number;
  /** The value of the full half height. */
  readonly ceiling: number;
  /** What a screen reader hears instead. */
  readonly label: string;
};

/** Received above the axis, sent below it. */
export function Sparkline({ rx, tx, steps, ceiling, label }: SparklineProps): ReactNode {
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path className="spark-axis" d={`M0 ${MIDDLE}H${WIDTH}`} />
      <path className="spark-rx" d={areaPath(rx, { steps, ceiling, side: -1 })} />
      <path className="spark-tx" d={areaPath(tx, { steps, ceiling, side: 1 })} />
    </svg>
  );
}

type Area = { readonly steps: number; readonly ceiling: number; readonly side: 1 | -1 };

/** Builds one closed area per run of values without a gap. */
export function areaPath(values: SparkSeries, area: Area): string {
  const first = area.steps - values.length;
  let path = "";
  let run: string[] = [];
  let runStart = 0;

  const x = (index: number): number => round(((first + index) / Math.max(1, area.steps - 1)) * WIDTH);
  const close = (endIndex: number): void => {
    if (run.length > 0) path += `M${x(runStart)} ${MIDDLE}L${run.join("L")}L${x(endIndex)} ${MIDDLE}Z`;
    run = [];
  };

  values.forEach((value, index) => {
    if (value === null) return close(index - 1);
    if (run.length === 0) runStart = index;
    const height = Math.min(1, value / area.ceiling) * (MIDDLE - 1);
    run.push(`${x(index)} ${round(MIDDLE + area.side * height)}`);
  });
  close(values.length - 1);
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

const WIDTH = 120;
const HEIGHT = 28;
const MIDDLE = HEIGHT / 2;
