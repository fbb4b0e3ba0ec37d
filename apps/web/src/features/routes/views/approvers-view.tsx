import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { useTRPC, useTRPCClient } from "../../../api/context.ts";
import type { Group, RouteApprover } from "../../../api/types.ts";
import { usePages } from "../../../api/use-pages.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { PagedList } from "../../../ui/paged-list.tsx";
import { SearchField } from "../../../ui/search-field.tsx";
import { ApproversTable } from "../components/approvers-table.tsx";
import { AddApproverDialog, RemoveApproverDialog } from "../dialogs/lazy-dialogs.tsx";
import type { RoutesViewProps } from "./routes-view.tsx";

type ApproversViewProps = Omit<RoutesViewProps, "peers">;

/** Ranges whose routes need nobody's approval when their router is in a group. */
export function ApproversView({ networkId, search, onAsk, hasRole }: ApproversViewProps): ReactNode {
  const text = pageStrings.approvers;
  const trpc = useTRPC();
  const pages = useApproverPages(networkId, search.q);
  const groups = useQuery(trpc.groups.list.queryOptions({ networkId, limit: 500 })).data?.items ?? NO_GROUPS;
  const groupNames = useMemo(() => new Map(groups.map(({ id, name }) => [id, name])), [groups]);
  const [dialog, setDialog] = useState<"add" | RouteApprover | null>(null);
  const close = (): void => setDialog(null);

  return (
    <Card
      title={text.title}
      hint={text.hint}
      body="flush"
      actions={
        hasRole("admin") ? (
          <Button icon="plus" onPress={() => setDialog("add")}>
            {text.add}
          </Button>
        ) : null
      }
    >
      <div className="toolbar card-toolbar">
        <SearchField
          label={text.search}
          placeholder={text.searchHint}
          value={search.q ?? ""}
          onChange={(q) => onAsk({ ...search, q })}
        />
      </div>
      <PagedList
        pages={pages}
        text={text}
        empty={
          search.q === undefined
            ? { title: text.empty, hint: text.emptyHint }
            : { title: pageStrings.routes.emptyFiltered, hint: pageStrings.routes.emptyFilteredHint }
        }
      >
        {(items) => (
          <ApproversTable
            approvers={items}
            groupNames={groupNames}
            onRemove={hasRole("admin") ? setDialog : undefined}
          />
        )}
      </PagedList>
      {dialog === "add" ? <AddApproverDialog networkId={networkId} groups={groups} onClose={close} /> : null}
      {dialog !== null && dialog !== "add" ? (
        <RemoveApproverDialog
          approver={dialog}
          group={groupNames.get(dialog.groupId) ?? text.unknownGroup}
          onClose={close}
        />
      ) : null}
    </Card>
  );
}

function useApproverPages(networkId: string, q: string | undefined) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const asked = { networkId, limit: PAGE_ROWS, count: true, ...(q === undefined ? {} : { q }) };
  return usePages({
    key: [...trpc.routeApprovers.list.queryKey(), asked],
    read: (place, signal) => client.routeApprovers.list.query({ ...asked, ...place }, { signal }),
  });
}

const NO_GROUPS: readonly Group[] = [];
const PAGE_ROWS = 100;
