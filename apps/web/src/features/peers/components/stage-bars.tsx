import type { ReactNode } from "react";
import type { StageSample } from "../../../api/types.ts";
import { formatCount } from "../../../format/bytes.ts";
import { strings } from "../../../strings/index.ts";
import { Explained } from "../../../ui/tooltip.tsx";
import { type Lane, type StageRow, stageRows } from "../stage-rows.ts";

/** The road of a packet in both directions, each stage with one bar per core. */
export function StageBars({ stages }: { readonly stages: readonly StageSample[] }): ReactNode {
  const text = strings.peer.stages;
  const lanes = LANES.map((lane) => ({ lane, rows: stageRows(stages, lane) }));
  if (lanes.every(({ rows }) => rows.every((row) => row.share < SHARE_SHOWN_MIN)))
    return <p className="soft">{text.idle}</p>;

  return (
    <div className="stages">
      {lanes.map(({ lane, rows }) => (
        <section key={lane} aria-label={text[lane]} className={`stage-lane stage-lane-${lane}`}>
          <h3>{text[lane]}</h3>
          <ul>
            {rows.map((row) => (
              <Stage key={row.stage} row={row} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function Stage({ row }: { readonly row: StageRow }): ReactNode {
  const text = strings.peer.stages;
  return (
    <li className="stage">
      <span className="stage-name">
        <Explained help={text.help[row.stage]}>{text.names[row.stage]}</Explained>
      </span>
      <span className="stage-cores">
        {row.cores.map((core) => {
          const share = `${text.core(core.shard)}: ${percent(core.share)}`;
          return (
            <span key={core.shard} className="stage-bar" title={share}>
              <span className="visually-hidden">{share}. </span>
              <i style={{ inlineSize: `${Math.min(100, core.share * 100)}%` }} />
            </span>
          );
        })}
      </span>
      <span className="stage-share">
        {percent(row.share)}
        <span className="visually-hidden"> {text.ofCore}</span>
      </span>
      <span className="stage-facts faint">
        {row.packetsPerBatch === null || row.nanosecondsPerPacket === null
          ? strings.common.dash
          : text.facts(formatPerBatch(row.packetsPerBatch), formatCount(Math.round(row.nanosecondsPerPacket)))}
      </span>
    </li>
  );
}

function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.1) return strings.peer.stages.tiny;
  return `${value >= 10 || value === 0 ? value.toFixed(0) : value.toFixed(1)} %`;
}

function formatPerBatch(value: number): string {
  return value >= 10 ? value.toFixed(0) : value.toFixed(1);
}

const LANES: readonly Lane[] = ["outbound", "inbound"];

/** Less than a thousandth of a core is noise. */
const SHARE_SHOWN_MIN = 0.001;
