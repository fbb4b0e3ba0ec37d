import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useRole } from "../../api/use-role.ts";
import { NAMES_VIEWS, type NamesSearch, parseNamesSearch, paths, routeIds } from "../../routes.ts";
import { pageStrings } from "../../strings/pages.ts";
import { Page } from "../../ui/page.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { DomainView } from "./views/domain-view.tsx";
import { RecordsView } from "./views/records-view.tsx";
import { ServersView } from "./views/servers-view.tsx";

const route = getRouteApi(routeIds.names);

/** What hosts are called: records, nameservers of other domains, and the domain of the network. */
export function NamesPage(): ReactNode {
  const text = pageStrings.names;
  const { networkId } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate();
  const mayChange = useRole(networkId)("admin");
  const { view = "records" } = search;
  const ask = (next: { readonly [Part in keyof NamesSearch]: NamesSearch[Part] | undefined }): void =>
    void navigate({ to: paths.names, params: { networkId }, search: parseNamesSearch(next), replace: true });
  const list = { networkId, search, onAsk: ask, mayChange };

  return (
    <Page
      title={text.title}
      sentence={
        <>
          {text.sentence} {mayChange ? null : text.readOnly}
        </>
      }
    >
      <Segmented
        label={text.views.label}
        value={view}
        onChange={(chosen) => void navigate({ to: paths.names, params: { networkId }, search: { view: chosen } })}
        options={NAMES_VIEWS.map((value) => ({ value, label: text.views[value] }))}
      />
      {view === "records" ? (
        <RecordsView {...list} />
      ) : view === "servers" ? (
        <ServersView {...list} />
      ) : (
        <DomainView networkId={networkId} mayChange={mayChange} />
      )}
    </Page>
  );
}
