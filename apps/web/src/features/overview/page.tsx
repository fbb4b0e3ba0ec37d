import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { NetworkLive } from "../../api/live/network-live.ts";
import { useStore } from "../../api/live/use-live.ts";
import { type NetworkPeers, useNetworkPeers } from "../../api/live/use-network-peers.ts";
import type { Peer } from "../../api/types.ts";
import { formatRate } from "../../format/rate.ts";
import { UpdateNotice } from "../../layout/update-notice.tsx";
import { paths, routeIds } from "../../routes.ts";
import { strings } from "../../strings/index.ts";
import { Card } from "../../ui/card.tsx";
import { Page } from "../../ui/page.tsx";
import { EmptyPanel, LoadingPanel, ProblemPanel, StaleNote } from "../../ui/panels.tsx";
import { ThroughputChart } from "../../ui/throughput-chart.tsx";
import { AttentionList } from "./components/attention-list.tsx";
import { NetworkFacts } from "./components/network-facts.tsx";
import { TopTalkers } from "./components/top-talkers.tsx";

const route = getRouteApi(routeIds.overview);

/** Is everything well? Answered in words first. */
export function OverviewPage(): ReactNode {
  const { networkId } = route.useParams();
  const peers = useNetworkPeers(networkId);
  return (
    <Page
      title={strings.overview.title}
      sentence={
        peers.state === "ready" && peers.peers.length > 0 ? <Sentence peers={peers.peers} live={peers.live} /> : null
      }
    >
      <UpdateNotice />
      <Body networkId={networkId} peers={peers} />
    </Page>
  );
}

function Sentence({ peers, live }: { readonly peers: readonly Peer[]; readonly live: NetworkLive }): ReactNode {
  const text = strings.overview;
  useStore(live.samples);
  const online = peers.filter((peer) => peer.presence === "online").length;
  const pending = peers.filter((peer) => peer.map.state === "pending").length;
  const rate = formatRate(live.totals.latest()?.rxBitsPerSecond ?? 0);
  return `${text.sentence(online, peers.length, rate)}, ${pending === 0 ? text.applied : text.pending(pending)}.`;
}

function Body({ networkId, peers }: { readonly networkId: string; readonly peers: NetworkPeers }): ReactNode {
  const text = strings.overview;
  if (peers.state === "loading") return <LoadingPanel label={text.loading} />;
  if (peers.state === "failed") return <ProblemPanel problem={peers.problem} onRetry={peers.retry} />;
  if (peers.peers.length === 0) {
    return (
      <EmptyPanel title={text.empty}>
        <p>{text.emptyHint}</p>
        <Link to={paths.peers} params={{ networkId }} className="button button-primary">
          {text.add}
        </Link>
      </EmptyPanel>
    );
  }
  return (
    <>
      {peers.stale ? <StaleNote onRetry={peers.stale.retry}>{strings.common.staleRows}</StaleNote> : null}
      <AttentionList networkId={networkId} peers={peers.peers} />
      <Throughput live={peers.live} />
      <div className="columns">
        <TopTalkers peers={peers.peers} live={peers.live} />
        <NetworkFacts networkId={networkId} />
      </div>
    </>
  );
}

function Throughput({ live }: { readonly live: NetworkLive }): ReactNode {
  const text = strings.overview;
  const revision = useStore(live.revision);
  return (
    <Card title={text.throughput} hint={text.throughputHint} body="flush">
      <ThroughputChart
        columns={live.totals.columns()}
        revision={revision}
        windowSeconds={windowFor(live.totals.columns().seconds)}
        label={text.chartLabel}
        emptyHint={strings.chart.empty}
      />
    </Card>
  );
}

/** The window grows in steps with what was recorded, so that the first minute is not a sliver at the edge. */
function windowFor(seconds: readonly number[]): number {
  const span = (seconds.at(-1) ?? 0) - (seconds.at(0) ?? 0);
  return WINDOW_SECONDS.find((window) => window >= span) ?? 600;
}

const WINDOW_SECONDS = [60, 300, 600];
