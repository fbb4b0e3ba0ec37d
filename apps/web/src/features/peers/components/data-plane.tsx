import type { ReactNode } from "react";
import type { PeerLive } from "../../../api/live/peer-live.ts";
import { useStore } from "../../../api/live/use-live.ts";
import type { OffloadState, PeerSample } from "../../../api/types.ts";
import { formatCount } from "../../../format/bytes.ts";
import { strings } from "../../../strings/index.ts";
import { Card } from "../../../ui/card.tsx";
import { Chip, type ChipTone } from "../../../ui/chip.tsx";
import { EmptyPanel } from "../../../ui/panels.tsx";
import { dropRows } from "../drops.ts";
import { StageBars } from "./stage-bars.tsx";

/** Where the time of the data plane goes, what the kernel helps with, and what was dropped. */
export function DataPlane({ live }: { readonly live: PeerLive }): ReactNode {
  const text = strings.peer;
  const sample = useStore(live.sample);
  return (
    <div className="data-plane">
      <Card title={text.stages.title} hint={text.stages.hint}>
        {sample ? <StageBars stages={sample.stages} /> : <EmptyPanel title={strings.chart.empty} />}
      </Card>
      <div className="data-plane-side">
        <Card title={text.offload.title} hint={text.offload.hint}>
          {sample && sample.offload.length > 0 ? (
            <Offloads offload={sample.offload} />
          ) : (
            <p className="soft">{text.offload.unknown}</p>
          )}
        </Card>
        <Card title={text.drops.title} hint={text.drops.hint}>
          <Drops drops={sample?.drops ?? {}} />
        </Card>
      </div>
    </div>
  );
}

function Offloads({ offload }: { readonly offload: PeerSample["offload"] }): ReactNode {
  return (
    <ul className="offloads">
      {offload.map((item) => (
        <li key={item.name}>
          <Chip tone={TONES[item.state]}>
            <span>{OFFLOADS.get(item.name) ?? item.name}</span>{" "}
            <strong>{strings.peer.offload.state[item.state]}</strong>
          </Chip>
          {item.reason ? <span className="soft">{item.reason}</span> : null}
        </li>
      ))}
    </ul>
  );
}

function Drops({ drops }: { readonly drops: PeerSample["drops"] }): ReactNode {
  const rows = dropRows(drops);
  if (rows.length === 0) return <p className="soft">{strings.peer.drops.none}</p>;
  return (
    <dl className="drops">
      {rows.map((row) => (
        <div key={row.reason}>
          <dt>{row.label}</dt>
          <dd>{formatCount(row.count)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Offloads this version knows; others keep the name the agent gave them. */
const OFFLOADS = new Map<string, string>(Object.entries(strings.peer.offload.names));

const TONES: Record<OffloadState["state"], ChipTone> = { on: "good", off: "plain", fallback: "warn" };
