import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { PeerLive } from "../../../api/live/peer-live.ts";
import { useStore } from "../../../api/live/use-live.ts";
import type { Peer } from "../../../api/types.ts";
import { CHART_RANGES, type ChartRange, routeIds } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { Card } from "../../../ui/card.tsx";
import { Segmented } from "../../../ui/segmented.tsx";
import { ThroughputChart } from "../../../ui/throughput-chart.tsx";

const route = getRouteApi(routeIds.peer);

/** The live chart of a peer; its time range lives in the address. */
export function PeerThroughput({ peer, live }: { readonly peer: Peer; readonly live: PeerLive }): ReactNode {
  const text = strings.peer.chart;
  const { range } = route.useSearch();
  const navigate = route.useNavigate();
  const revision = useStore(live.revision);
  const chosen = range ?? "60";

  return (
    <Card
      title={text.title}
      hint={text.hint}
      body="flush"
      actions={
        <Segmented<ChartRange>
          label={text.rangeLabel}
          value={chosen}
          onChange={(next) => void navigate({ search: { range: next }, replace: true })}
          options={CHART_RANGES.map((value) => ({ value, label: text.range[value] }))}
        />
      }
    >
      <ThroughputChart
        columns={live.throughput.columns()}
        revision={revision}
        windowSeconds={Number(chosen)}
        label={(rx, tx) => text.label(peer.name, rx, tx)}
        emptyHint={strings.chart.empty}
      />
    </Card>
  );
}
