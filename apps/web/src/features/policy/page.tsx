import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { useTRPC } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
import { isOpen, letsPass } from "../../api/rule-effect.ts";
import type { Group, Rule, RuleHits } from "../../api/types.ts";
import { routeIds } from "../../routes.ts";
import { strings } from "../../strings/index.ts";
import { pageStrings } from "../../strings/pages.ts";
import { Button } from "../../ui/button.tsx";
import { useNotify } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { EmptyPanel, LoadingPanel, ProblemPanel, StaleNote } from "../../ui/panels.tsx";
import { AddRuleDialog } from "./add-rule-dialog.tsx";
import { RemoveRuleDialog } from "./remove-rule-dialog.tsx";
import type { SideNames } from "../../api/rule-text.ts";
import { RulesTable } from "./rules-table.tsx";

const route = getRouteApi(routeIds.policy);

/** The rules of a network, in the open: what is not listed is denied. */
export function PolicyPage(): ReactNode {
  const { networkId } = route.useParams();
  const text = pageStrings.policy;
  const trpc = useTRPC();
  const rules = useQuery(trpc.rules.list.queryOptions({ networkId }));
  const add = useAddRule(networkId);
  const groups = useQuery(trpc.groups.list.queryOptions({ networkId, limit: 500 })).data?.items ?? NO_GROUPS;
  const names = useSideNames(networkId, groups);
  const hits = useRuleHits(networkId);
  const turn = useSwitchRule();
  const [removing, setRemoving] = useState<Rule | null>(null);
  const [adding, setAdding] = useState<"closed" | "open">("closed");
  const items = rules.data?.items;
  const allowAll = (look: "primary" | "secondary"): ReactNode => (
    <Button
      look={look}
      icon="plus"
      isPending={add.isPending}
      onPress={() => add.mutate({ networkId, kind: "all-to-all" })}
    >
      {text.add}
    </Button>
  );

  const addBetween = (
    <Button icon="plus" onPress={() => setAdding("open")}>
      {text.addBetween}
    </Button>
  );

  return (
    <Page title={text.title} sentence={text.sentence}>
      {rules.isError && items ? (
        <StaleNote onRetry={() => void rules.refetch()}>{strings.common.staleRows}</StaleNote>
      ) : null}
      {turn.error ? <ProblemPanel problem={toProblem(turn.error)} /> : null}
      {add.error ? <ProblemPanel problem={toProblem(add.error)} /> : null}
      {!items && rules.error ? (
        <ProblemPanel problem={toProblem(rules.error)} onRetry={() => void rules.refetch()} />
      ) : !items ? (
        <LoadingPanel label={text.loading} />
      ) : items.length === 0 ? (
        <EmptyPanel title={text.emptyTitle}>
          <p>{text.emptyHint}</p>
          {allowAll("primary")} {addBetween}
        </EmptyPanel>
      ) : (
        <>
          <RulesTable
            rules={items}
            names={names}
            hits={hits}
            onSwitch={({ id, state }) => turn.mutate({ ruleId: id, state: state === "on" ? "off" : "on" })}
            onRemove={setRemoving}
          />
          <p>{addBetween}</p>
          {items.some(isOpen) ? null : (
            <p className="soft">
              {text.noOpenRule} {allowAll("secondary")}
            </p>
          )}
        </>
      )}
      {removing ? (
        <RemoveRuleDialog
          rule={removing}
          names={names}
          position={isLastToPass(removing, items ?? []) ? "last" : "one-of-many"}
          onClose={() => setRemoving(null)}
        />
      ) : null}
      {adding === "open" ? (
        <AddRuleDialog networkId={networkId} groups={groups} onClose={() => setAdding("closed")} />
      ) : null}
    </Page>
  );
}

/** True when nothing passes any more once the rule is gone. */
function isLastToPass(rule: Rule, rules: readonly Rule[]): boolean {
  return letsPass(rule) && !rules.some((other) => other.id !== rule.id && letsPass(other));
}

/** What groups are called, and peers while some rule names one. */
function useSideNames(networkId: string, groups: readonly Group[]): SideNames {
  const trpc = useTRPC();
  const peers = useQuery(trpc.peers.list.queryOptions({ networkId, limit: 500 })).data?.items;
  return useMemo(() => new Map([...groups, ...(peers ?? [])].map(({ id, name }) => [id, name])), [groups, peers]);
}

/** What met the rules, read again while the page is open. */
function useRuleHits(networkId: string): ReadonlyMap<string, RuleHits> | undefined {
  const trpc = useTRPC();
  const { data } = useQuery({ ...trpc.rules.hits.queryOptions({ networkId }), refetchInterval: HITS_REFRESH_MS });
  return useMemo(() => data && new Map(data.items.map((hits) => [hits.ruleId, hits])), [data]);
}

function useSwitchRule() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  return useMutation(
    trpc.rules.update.mutationOptions({
      onSuccess: async ({ state }) => {
        await queryClient.invalidateQueries({ queryKey: trpc.rules.list.queryKey() });
        notify(state === "on" ? pageStrings.policy.turnedOn : pageStrings.policy.turnedOff);
      },
    }),
  );
}

const HITS_REFRESH_MS = 10_000;
const NO_GROUPS: readonly Group[] = [];

function useAddRule(networkId: string) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  return useMutation(
    trpc.rules.create.mutationOptions({
      onSuccess: async () => {
        await queryClient.invalidateQueries({ queryKey: trpc.rules.list.queryKey({ networkId }) });
        notify(pageStrings.policy.added);
      },
    }),
  );
}
