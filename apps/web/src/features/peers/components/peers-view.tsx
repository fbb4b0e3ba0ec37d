import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { NetworkLive } from "../../../api/live/network-live.ts";
import type { Peer } from "../../../api/types.ts";
import { PEER_FILTERS, type PeerFilter, type PeersSearch, routeIds } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { EmptyPanel } from "../../../ui/panels.tsx";
import { SearchField } from "../../../ui/search-field.tsx";
import { Segmented } from "../../../ui/segmented.tsx";
import { PeerGroupsDialog, RemovePeerDialog, RenamePeerDialog } from "../dialogs/lazy-dialogs.tsx";
import { filterPeers } from "../filter-peers.ts";
import type { PeerAction } from "../peer-action.ts";
import { PeerTable } from "./peer-table.tsx";

const route = getRouteApi(routeIds.peers);

export type PeersViewProps = {
  readonly networkId: string;
  readonly peers: readonly Peer[];
  readonly live: NetworkLive;
};

/** What a dialog is open for. */
type OpenDialog = { readonly kind: PeerAction; readonly peer: Peer } | null;

/** Search and filter above the table; all of it lives in the address. */
export function PeersView({ networkId, peers, live }: PeersViewProps): ReactNode {
  const text = strings.peers;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const shown = filterPeers(peers, search);
  const change = (next: PeersSearch): void => void navigate({ search: next, replace: true });
  const close = (): void => setDialog(null);

  return (
    <>
      <div className="toolbar">
        <SearchField
          label={text.search}
          placeholder={text.searchHint}
          value={search.q ?? ""}
          onChange={(q) => change(withSearch(search, { q }))}
        />
        <Segmented<PeerFilter | "all">
          label={text.show}
          value={search.show ?? "all"}
          onChange={(show) => change(withSearch(search, { show }))}
          options={(["all", ...PEER_FILTERS] as const).map((value) => ({ value, label: text.filters[value] }))}
        />
        <span className="toolbar-count soft" role="status">
          {text.shown(shown.length, peers.length)}
        </span>
      </div>
      {shown.length === 0 ? (
        <EmptyPanel title={text.noMatch}>
          <Button onPress={() => change(search.sort ? { sort: search.sort } : {})}>{text.clear}</Button>
        </EmptyPanel>
      ) : (
        <PeerTable
          networkId={networkId}
          peers={shown}
          live={live}
          sort={search.sort ?? "name"}
          onSort={(sort) => change({ ...search, sort })}
          onAction={(kind, peer) => setDialog({ kind, peer })}
        />
      )}
      {dialog?.kind === "rename" ? <RenamePeerDialog peer={dialog.peer} onClose={close} /> : null}
      {dialog?.kind === "groups" ? <PeerGroupsDialog peer={dialog.peer} onClose={close} /> : null}
      {dialog?.kind === "remove" ? <RemovePeerDialog peer={dialog.peer} onClose={close} onRemoved={close} /> : null}
    </>
  );
}

function withSearch(
  search: PeersSearch,
  change: { readonly q?: string; readonly show?: PeerFilter | "all" },
): PeersSearch {
  const { q, show, ...rest } = { ...search, ...change };
  return { ...rest, ...(q ? { q } : {}), ...(show && show !== "all" ? { show } : {}) };
}
