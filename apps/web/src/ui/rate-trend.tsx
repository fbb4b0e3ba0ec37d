import type { ReactNode } from "react";
import { axisCeiling, formatRate } from "../format/rate.ts";
import { strings } from "../strings/index.ts";
import { RateFigures } from "./rate-figures.tsx";
import { Sparkline, type SparkSeries } from "./sparkline.tsx";

export type RateTrendProps = {
  /** Whose traffic it is, for screen readers. */
  readonly name: string;
  readonly rates: {
    readonly rx: SparkSeries;
    readonly tx: SparkSeries;
    readonly latest: { readonly rxBitsPerSecond: number; readonly txBitsPerSecond: number } | null;
  } | null;
  /** How many steps the window holds. */
  readonly steps: number;
};

/** A window of traffic as a picture beside the newest figures. */
export function RateTrend({ name, rates, steps }: RateTrendProps): ReactNode {
  const text = strings.chart;
  if (!rates) return <span className="faint">{text.gap}</span>;

  const rx = rates.latest ? formatRate(rates.latest.rxBitsPerSecond) : text.gap;
  const tx = rates.latest ? formatRate(rates.latest.txBitsPerSecond) : text.gap;
  const peak = [...rates.rx, ...rates.tx].reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  return (
    <span className="rate-cell">
      <Sparkline
        rx={rates.rx}
        tx={rates.tx}
        steps={steps}
        ceiling={axisCeiling(peak)}
        label={text.trend(name, rx, tx)}
      />
      <RateFigures rx={rx} tx={tx} />
    </span>
  );
}
