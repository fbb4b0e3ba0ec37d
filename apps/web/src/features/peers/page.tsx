import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { paths, routeIds } from "../../routes.ts";
import { strings } from "../../strings/index.ts";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Page } from "../../ui/page.tsx";
import { LoadingPanel, ProblemPanel, StaleNote } from "../../ui/panels.tsx";
import type { Peer } from "../../api/types.ts";
import { AddClientDialog } from "./dialogs/lazy-dialogs.tsx";
import { AddHostFlow } from "./components/add-host-flow.tsx";
import { PeersSentence } from "./components/peers-sentence.tsx";
import { PeersView } from "./components/peers-view.tsx";
import { type NetworkPeers, useNetworkPeers } from "../../api/live/use-network-peers.ts";

const route = getRouteApi(routeIds.peers);

/** The peers of a network. While there is none, the page is the add-host flow. */
export function PeersPage(): ReactNode {
  const { networkId } = route.useParams();
  return <NetworkPeersPage key={networkId} networkId={networkId} />;
}

function NetworkPeersPage({ networkId }: { readonly networkId: string }): ReactNode {
  const peers = useNetworkPeers(networkId);
  const flow = useFirstHosts(peers);

  if (flow.state === "open" && peers.state === "ready") {
    return (
      <Page title={strings.addHost.title} sentence={strings.addHost.sentence}>
        <AddHostFlow networkId={networkId} peers={peers.peers} onDone={flow.leave} />
      </Page>
    );
  }
  return (
    <Page
      title={strings.peers.title}
      sentence={peers.state === "ready" ? <PeersSentence peers={peers.peers} /> : null}
      action={
        <>
          {peers.state === "ready" ? <AddClient networkId={networkId} peers={peers.peers} /> : null}
          <Link to={paths.addHost} params={{ networkId }} className="button button-primary">
            <Icon name="plus" />
            <span>{strings.peers.add}</span>
          </Link>
        </>
      }
    >
      <Body networkId={networkId} peers={peers} />
    </Page>
  );
}

/** Adds a member that runs plain WireGuard behind one of the hosts that are there. */
function AddClient({ networkId, peers }: { readonly networkId: string; readonly peers: readonly Peer[] }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const gateways = peers.filter(
    ({ kind, state, presence, endpoints }) =>
      kind === "node" && state === "active" && presence === "online" && endpoints.length > 0,
  );
  return (
    <>
      <Button onPress={() => setOpen(true)}>{strings.clients.open}</Button>
      {isOpen ? <AddClientDialog networkId={networkId} gateways={gateways} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function Body({ networkId, peers }: { readonly networkId: string; readonly peers: NetworkPeers }): ReactNode {
  switch (peers.state) {
    case "loading":
      return <LoadingPanel label={strings.peers.loading} />;
    case "failed":
      return <ProblemPanel problem={peers.problem} onRetry={peers.retry} />;
    case "ready":
      return (
        <>
          {peers.stale ? <StaleNote onRetry={peers.stale.retry}>{strings.common.staleRows}</StaleNote> : null}
          <PeersView networkId={networkId} peers={peers.peers} live={peers.live} />
        </>
      );
  }
}

/** The flow opens when the network is empty and stays, so that the first ping is seen, until the reader leaves it. */
function useFirstHosts(peers: NetworkPeers): { readonly state: "open" | "closed"; readonly leave: () => void } {
  const [state, setState] = useState<"undecided" | "open" | "closed">("undecided");
  if (peers.state === "ready" && state !== "open" && peers.peers.length === 0) setState("open");
  else if (peers.state === "ready" && state === "undecided") setState("closed");
  return { state: state === "open" ? "open" : "closed", leave: () => setState("closed") };
}
