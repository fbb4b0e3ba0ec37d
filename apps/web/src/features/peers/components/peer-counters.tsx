import type { ReactNode } from "react";
import type { PeerLive } from "../../../api/live/peer-live.ts";
import { useStore } from "../../../api/live/use-live.ts";
import type { Peer } from "../../../api/types.ts";
import { formatBytes } from "../../../format/bytes.ts";
import { strings } from "../../../strings/index.ts";
import { Stat, Stats } from "../../../ui/stat.tsx";

/** Totals of the peer and what its agent costs. */
export function PeerCounters({ peer, live }: { readonly peer: Peer; readonly live: PeerLive }): ReactNode {
  const text = strings.peer.totals;
  const sample = useStore(live.sample);
  const totals = sample ?? peer;
  const sessions = sample?.links.filter((link) => link.sessionAgeSeconds !== null).length;

  return (
    <Stats label={text.title}>
      <Stat name={text.rx} tone="rx">
        {formatBytes(totals.rxBytes)}
      </Stat>
      <Stat name={text.tx} tone="tx">
        {formatBytes(totals.txBytes)}
      </Stat>
      <Stat name={text.links}>
        {sample && sessions !== undefined ? strings.peer.sessions(sessions, sample.links.length) : strings.common.dash}
      </Stat>
      <Stat name={text.cpu}>{sample ? strings.peer.percent(sample.cpuPercent) : strings.common.dash}</Stat>
      <Stat name={text.memory}>{sample ? formatBytes(sample.rssBytes) : strings.common.dash}</Stat>
    </Stats>
  );
}
