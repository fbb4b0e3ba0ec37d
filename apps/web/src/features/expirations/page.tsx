import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTRPC, useTRPCClient } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
import { EXPIRING_KINDS, type ExpirationsSearch, type ExpiringKind, paths, routeIds } from "../../routes.ts";
import { strings } from "../../strings/index.ts";
import { pageStrings } from "../../strings/pages.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { EmptyPanel, LoadingPanel, ProblemPanel, StaleNote } from "../../ui/panels.tsx";
import { Select } from "../../ui/select.tsx";
import { ExpirationsTable } from "./components/expirations-table.tsx";

const route = getRouteApi(routeIds.expirations);

/** Everything that ends by itself, soonest first, with a warning as the end comes near. */
export function ExpirationsPage(): ReactNode {
  const text = pageStrings.expirations;
  const navigate = useNavigate();
  const { kind } = route.useSearch();
  const found = useExpirations(kind);
  const items = found.data?.pages.flatMap((page) => page.items);

  return (
    <Page title={text.title} sentence={text.sentence}>
      <div className="toolbar">
        <Select<ExpiringKind | typeof ALL>
          label={text.kind}
          value={kind ?? ALL}
          onChange={(value) => {
            const search: ExpirationsSearch = value === ALL ? {} : { kind: value };
            void navigate({ to: paths.expirations, search, replace: true });
          }}
          options={[
            { value: ALL, label: text.allKinds },
            ...EXPIRING_KINDS.map((value) => ({ value, label: text.kinds[value] })),
          ]}
        />
      </div>
      {found.isError && items ? (
        <StaleNote onRetry={() => void found.refetch()}>{strings.common.staleRows}</StaleNote>
      ) : null}
      {!items && found.error ? (
        <ProblemPanel problem={toProblem(found.error)} onRetry={() => void found.refetch()} />
      ) : !items ? (
        <LoadingPanel label={text.loading} />
      ) : items.length === 0 ? (
        <EmptyPanel title={text.emptyTitle}>{text.emptyHint}</EmptyPanel>
      ) : (
        <>
          <ExpirationsTable expirations={items} />
          <p className="row-line">
            <span className="soft" role="status">
              {text.loaded(items.length)}
            </span>
            {found.hasNextPage ? (
              <Button isPending={found.isFetchingNextPage} onPress={() => void found.fetchNextPage()}>
                {text.more}
              </Button>
            ) : null}
          </p>
        </>
      )}
    </Page>
  );
}

function useExpirations(kind: ExpiringKind | undefined) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const asked = { limit: PAGE_ROWS, ...(kind === undefined ? {} : { kind }) };
  return useInfiniteQuery({
    queryKey: [...trpc.expirations.list.queryKey(), asked],
    initialPageParam: FIRST_PAGE,
    queryFn: ({ pageParam, signal }) =>
      client.expirations.list.query(
        { ...asked, ...(pageParam === FIRST_PAGE ? {} : { cursor: pageParam }) },
        { signal },
      ),
    getNextPageParam: (page) => page.nextCursor,
  });
}

const FIRST_PAGE = "";
const ALL = "";
const PAGE_ROWS = 100;
