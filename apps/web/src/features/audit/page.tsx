import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useTRPC, useTRPCClient } from "../../api/context.ts";
import type { AuditEvent } from "../../api/types.ts";
import { usePages } from "../../api/use-pages.ts";
import { AUDIT_ACTORS, type AuditActor, type AuditSearch, paths, routeIds } from "../../routes.ts";
import { pageStrings } from "../../strings/pages.ts";
import { Page } from "../../ui/page.tsx";
import { PagedList } from "../../ui/paged-list.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { Select } from "../../ui/select.tsx";
import { EventDialog } from "./components/event-dialog.tsx";
import { EventsTable } from "./components/events-table.tsx";

const route = getRouteApi(routeIds.audit);

/** Who changed what. Search and filters are in the address and are answered by the server. */
export function AuditPage(): ReactNode {
  const text = pageStrings.audit;
  const search = route.useSearch();
  const events = useEvents(search);
  const [open, setOpen] = useState<AuditEvent | null>(null);

  return (
    <Page title={text.title} sentence={text.sentence}>
      <Filters search={search} />
      <PagedList pages={events} text={text} empty={{ title: text.emptyTitle, hint: text.emptyHint }}>
        {(items) => <EventsTable events={items} onShow={setOpen} />}
      </PagedList>
      {open ? <EventDialog event={open} onClose={() => setOpen(null)} /> : null}
    </Page>
  );
}

function Filters({ search }: { readonly search: AuditSearch }): ReactNode {
  const text = pageStrings.audit;
  const trpc = useTRPC();
  const navigate = useNavigate();
  const networks = useQuery(trpc.networks.list.queryOptions({ limit: 500 })).data?.items ?? [];
  const { q, network, actor } = search;
  const ask = (change: Draft): void =>
    void navigate({ to: paths.audit, search: withoutGaps({ q, network, actor, ...change }), replace: true });

  return (
    <div className="toolbar">
      <SearchField
        label={text.search}
        placeholder={text.searchHint}
        value={q ?? ""}
        onChange={(value) => ask({ q: value === "" ? undefined : value })}
      />
      <Select
        label={text.network}
        value={network ?? ALL}
        onChange={(value) => ask({ network: value === ALL ? undefined : value })}
        options={[
          { value: ALL, label: text.allNetworks },
          ...networks.map(({ id, name }) => ({ value: id, label: name })),
        ]}
      />
      <Select<AuditActor | typeof ALL>
        label={text.actor}
        value={actor ?? ALL}
        onChange={(value) => ask({ actor: value === ALL ? undefined : value })}
        options={[
          { value: ALL, label: text.allActors },
          ...AUDIT_ACTORS.map((value) => ({ value, label: text.actors[value] })),
        ]}
      />
    </div>
  );
}

/** A search some parts of which may be open. */
type Draft = { readonly [Part in keyof AuditSearch]: AuditSearch[Part] | undefined };

function withoutGaps({ q, network, actor }: Draft): AuditSearch {
  return {
    ...(q === undefined ? {} : { q }),
    ...(network === undefined ? {} : { network }),
    ...(actor === undefined ? {} : { actor }),
  };
}

function useEvents({ q, network, actor }: AuditSearch) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const asked = {
    limit: PAGE_ROWS,
    ...(q === undefined ? {} : { q }),
    ...(network === undefined ? {} : { networkId: network }),
    ...(actor === undefined ? {} : { actorKind: actor }),
  };
  return usePages({
    key: [...trpc.auditEvents.list.queryKey(), asked],
    read: (place, signal) => client.auditEvents.list.query({ ...asked, ...place }, { signal }),
  });
}

const ALL = "";
const PAGE_ROWS = 100;
