import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useTRPC } from "../../api/context.ts";
import { statusOf, toProblem } from "../../api/error-text.ts";
import type { PeerLive } from "../../api/live/peer-live.ts";
import { usePeerLive, useStore } from "../../api/live/use-live.ts";
import type { Peer } from "../../api/types.ts";
import { paths, routeIds } from "../../routes.ts";
import { strings } from "../../strings/index.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { EmptyPanel, LoadingPanel, ProblemPanel, StaleNote } from "../../ui/panels.tsx";
import { TrafficCards } from "./components/lazy-traffic-cards.tsx";
import { PeerCounters } from "./components/peer-counters.tsx";
import { PeerDanger } from "./components/peer-danger.tsx";
import { PeerFacts } from "./components/peer-facts.tsx";
import { PeerMembership } from "./components/peer-membership.tsx";
import { PeerProblems } from "./components/peer-problems.tsx";
import { PeerSentence } from "./components/peer-sentence.tsx";
import { PeerThroughput } from "./components/peer-throughput.tsx";
import { RenamePeerDialog } from "./dialogs/lazy-dialogs.tsx";

const route = getRouteApi(routeIds.peer);

/** One peer: who it is, what goes through it now, and where its time goes. */
export function PeerPage(): ReactNode {
  const { networkId, peerId } = route.useParams();
  const trpc = useTRPC();
  const query = useQuery(trpc.peers.get.queryOptions({ peerId }));
  const isGone = statusOf(query.error) === 404;
  const live = usePeerLive(peerId, isGone ? "gone" : "there");
  const pushed = useStore(live.peer);
  const peer = pushed ?? query.data;
  const crumbs = (
    <Link to={paths.peers} params={{ networkId }}>
      {strings.peer.back}
    </Link>
  );

  if (isGone) {
    return (
      <Page title={strings.errors.notFound} crumbs={crumbs}>
        <EmptyPanel title={strings.peer.gone} />
      </Page>
    );
  }
  if (!peer) {
    return (
      <Page title={strings.peers.title} crumbs={crumbs}>
        {query.error ? (
          <ProblemPanel problem={toProblem(query.error)} onRetry={() => void query.refetch()} />
        ) : (
          <LoadingPanel label={strings.peer.loading} />
        )}
      </Page>
    );
  }
  return <LoadedPeer peer={peer} live={live} crumbs={crumbs} stale={!pushed && query.isError ? "stale" : "fresh"} />;
}

type LoadedPeerProps = {
  readonly peer: Peer;
  readonly live: PeerLive;
  readonly crumbs: ReactNode;
  readonly stale: "stale" | "fresh";
};

function LoadedPeer({ peer, live, crumbs, stale }: LoadedPeerProps): ReactNode {
  const navigate = route.useNavigate();
  const [dialog, setDialog] = useState<"closed" | "rename">("closed");
  return (
    <Page
      title={peer.name}
      crumbs={crumbs}
      sentence={<PeerSentence peer={peer} />}
      action={
        <Button icon="pencil" onPress={() => setDialog("rename")}>
          {strings.peers.rename}
        </Button>
      }
    >
      {stale === "stale" ? <StaleNote>{strings.common.staleRows}</StaleNote> : null}
      <PeerProblems peer={peer} />
      <PeerFacts peer={peer} />
      <PeerThroughput peer={peer} live={live} />
      <PeerCounters peer={peer} live={live} />
      <TrafficCards peer={peer} live={live} />
      <PeerMembership peer={peer} />
      <PeerDanger
        peer={peer}
        onRemoved={() => void navigate({ to: paths.peers, params: { networkId: peer.networkId }, search: {} })}
      />
      {dialog === "rename" ? <RenamePeerDialog peer={peer} onClose={() => setDialog("closed")} /> : null}
    </Page>
  );
}
