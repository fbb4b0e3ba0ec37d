import { type ReactNode, useCallback, useState } from "react";
import type { NetworkPeers } from "../../../api/live/use-network-peers.ts";
import type { Peer, Route } from "../../../api/types.ts";
import type { HasRole } from "../../../api/use-role.ts";
import { strings } from "../../../strings/index.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyPanel, LoadingPanel, ProblemPanel, StaleNote } from "../../../ui/panels.tsx";
import { ExitNodesTable } from "../components/exit-nodes-table.tsx";
import { ExitUsersTable } from "../components/exit-users-table.tsx";
import { ChooseExitDialog } from "../dialogs/lazy-dialogs.tsx";
import type { PeersById } from "../route-text.ts";
import { useExitRoutes } from "../use-routes.ts";

export type ExitsViewProps = {
  readonly networkId: string;
  readonly live: NetworkPeers;
  readonly peers: PeersById;
  readonly hasRole: HasRole;
};

/** The exit nodes, and who leaves through them. */
export function ExitsView({ networkId, live, peers, hasRole }: ExitsViewProps): ReactNode {
  const text = pageStrings.exits;
  const { routes, problem, retry } = useExitRoutes(networkId);
  const [dialog, setDialog] = useState<{ readonly peer: Peer | null } | null>(null);
  const change = useCallback((peer: Peer) => setDialog({ peer }), []);

  return (
    <>
      <Card title={text.nodes} hint={text.nodesHint} body="flush">
        {problem && routes ? <StaleNote onRetry={retry}>{strings.common.staleRows}</StaleNote> : null}
        {!routes && problem ? (
          <ProblemPanel problem={problem} onRetry={retry} />
        ) : !routes ? (
          <LoadingPanel label={text.loading} />
        ) : routes.length === 0 ? (
          <EmptyPanel title={text.noNodes}>{text.noNodesHint}</EmptyPanel>
        ) : (
          <ExitNodesTable routes={routes} peers={peers} />
        )}
      </Card>
      <Card
        title={text.title}
        hint={text.hint}
        body="flush"
        actions={
          hasRole("operator") && isChoosable(routes) ? (
            <Button onPress={() => setDialog({ peer: null })}>{text.choose}</Button>
          ) : null
        }
      >
        <Users live={live} peers={peers} {...(hasRole("operator") ? { onChange: change } : {})} />
      </Card>
      {dialog ? (
        <ChooseExitDialog
          networkId={networkId}
          peer={dialog.peer}
          peers={peers}
          exits={routes?.filter(({ state }) => state === "approved") ?? []}
          onClose={() => setDialog(null)}
        />
      ) : null}
    </>
  );
}

function isChoosable(routes: readonly Route[] | undefined): boolean {
  return routes?.some(({ state }) => state === "approved") ?? false;
}

type UsersProps = {
  readonly live: NetworkPeers;
  readonly peers: PeersById;
  readonly onChange?: (peer: Peer) => void;
};

function Users({ live, peers, onChange }: UsersProps): ReactNode {
  const text = pageStrings.exits;
  if (live.state === "loading") return <LoadingPanel label={text.loading} />;
  if (live.state === "failed") return <ProblemPanel problem={live.problem} onRetry={live.retry} />;
  const users = live.peers.filter(({ exit }) => exit !== null);
  return (
    <>
      {live.stale ? <StaleNote onRetry={live.stale.retry}>{strings.common.staleRows}</StaleNote> : null}
      {users.length === 0 ? (
        <EmptyPanel title={text.nobody}>{text.nobodyHint}</EmptyPanel>
      ) : (
        <ExitUsersTable users={users} peers={peers} onChange={onChange} />
      )}
    </>
  );
}
