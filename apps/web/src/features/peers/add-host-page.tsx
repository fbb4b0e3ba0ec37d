import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { paths, routeIds } from "../../routes.ts";
import { strings } from "../../strings/index.ts";
import { Page } from "../../ui/page.tsx";
import { LoadingPanel, ProblemPanel } from "../../ui/panels.tsx";
import { AddHostFlow } from "./components/add-host-flow.tsx";
import { useNetworkPeers } from "../../api/live/use-network-peers.ts";

const route = getRouteApi(routeIds.addHost);

/** Adds further hosts with the same flow that added the first two. */
export function AddHostPage(): ReactNode {
  const { networkId } = route.useParams();
  const navigate = route.useNavigate();
  const peers = useNetworkPeers(networkId);
  const title = peers.state === "ready" && peers.peers.length < 2 ? strings.addHost.title : strings.addHost.titleMore;

  return (
    <Page
      title={title}
      sentence={strings.addHost.sentence}
      crumbs={
        <Link to={paths.peers} params={{ networkId }}>
          {strings.peers.title}
        </Link>
      }
    >
      {peers.state === "ready" ? (
        <AddHostFlow
          networkId={networkId}
          peers={peers.peers}
          onDone={() => void navigate({ to: paths.peers, params: { networkId } })}
        />
      ) : peers.state === "failed" ? (
        <ProblemPanel problem={peers.problem} onRetry={peers.retry} />
      ) : (
        <LoadingPanel label={strings.peers.loading} />
      )}
    </Page>
  );
}
