import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { useNetworkPeers } from "../../api/live/use-network-peers.ts";
import { useRole } from "../../api/use-role.ts";
import { parseRoutesSearch, paths, routeIds, ROUTES_VIEWS, type RoutesSearch } from "../../routes.ts";
import { pageStrings } from "../../strings/pages.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { AddRouteDialog } from "./dialogs/lazy-dialogs.tsx";
import { ApproversView } from "./views/approvers-view.tsx";
import { ExitsView } from "./views/exits-view.tsx";
import { RoutesView } from "./views/routes-view.tsx";

const route = getRouteApi(routeIds.routes);

/** What lies behind peers, who approves it, and who leaves through whom. */
export function RoutesPage(): ReactNode {
  const text = pageStrings.routes;
  const { networkId } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate();
  const hasRole = useRole(networkId);
  const live = useNetworkPeers(networkId);
  const list = live.state === "ready" ? live.peers : undefined;
  const peers = useMemo(() => new Map((list ?? []).map((peer) => [peer.id, peer])), [list]);
  const [dialog, setDialog] = useState<"none" | "add">("none");
  const { view = "routes" } = search;
  const ask = (next: { readonly [Part in keyof RoutesSearch]: RoutesSearch[Part] | undefined }): void =>
    void navigate({ to: paths.routes, params: { networkId }, search: parseRoutesSearch(next), replace: true });

  return (
    <Page
      title={text.title}
      sentence={
        <>
          {text.sentence} {hasRole("admin") ? null : hasRole("operator") ? text.operator : text.readOnly}
        </>
      }
      action={
        hasRole("operator") ? (
          <Button look="primary" icon="plus" onPress={() => setDialog("add")}>
            {text.add}
          </Button>
        ) : null
      }
    >
      <Segmented
        label={text.views.label}
        value={view}
        onChange={(chosen) => void navigate({ to: paths.routes, params: { networkId }, search: { view: chosen } })}
        options={ROUTES_VIEWS.map((value) => ({ value, label: text.views[value] }))}
      />
      {view === "routes" ? (
        <RoutesView networkId={networkId} peers={peers} search={search} onAsk={ask} hasRole={hasRole} />
      ) : view === "exits" ? (
        <ExitsView networkId={networkId} live={live} peers={peers} hasRole={hasRole} />
      ) : (
        <ApproversView networkId={networkId} search={search} onAsk={ask} hasRole={hasRole} />
      )}
      {dialog === "add" ? <AddRouteDialog networkId={networkId} onClose={() => setDialog("none")} /> : null}
    </Page>
  );
}
