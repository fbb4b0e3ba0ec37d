import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useTRPC } from "../../api/context.ts";
import { toProblem } from "../../api/error-text.ts";
import { isOpen, letsPass } from "../../api/rule-effect.ts";
import type { Rule } from "../../api/types.ts";
import { routeIds } from "../../routes.ts";
import { strings } from "../../strings/index.ts";
import { Button } from "../../ui/button.tsx";
import { useNotify } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { EmptyPanel, LoadingPanel, ProblemPanel, StaleNote } from "../../ui/panels.tsx";
import { RemoveRuleDialog } from "./remove-rule-dialog.tsx";
import { RulesTable } from "./rules-table.tsx";

const route = getRouteApi(routeIds.policy);

/** The rules of a network, in the open: what is not listed is denied. */
export function PolicyPage(): ReactNode {
  const { networkId } = route.useParams();
  const text = strings.policy;
  const trpc = useTRPC();
  const rules = useQuery(trpc.rules.list.queryOptions({ networkId }));
  const add = useAddRule(networkId);
  const [removing, setRemoving] = useState<Rule | null>(null);
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

  return (
    <Page title={text.title} sentence={text.sentence}>
      {rules.isError && items ? (
        <StaleNote onRetry={() => void rules.refetch()}>{strings.common.staleRows}</StaleNote>
      ) : null}
      {add.error ? <ProblemPanel problem={toProblem(add.error)} /> : null}
      {!items && rules.error ? (
        <ProblemPanel problem={toProblem(rules.error)} onRetry={() => void rules.refetch()} />
      ) : !items ? (
        <LoadingPanel label={text.loading} />
      ) : items.length === 0 ? (
        <EmptyPanel title={text.emptyTitle}>
          <p>{text.emptyHint}</p>
          {allowAll("primary")}
        </EmptyPanel>
      ) : (
        <>
          <RulesTable rules={items} onRemove={setRemoving} />
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
          position={isLastToPass(removing, items ?? []) ? "last" : "one-of-many"}
          onClose={() => setRemoving(null)}
        />
      ) : null}
    </Page>
  );
}

/** True when nothing passes any more once the rule is gone. */
function isLastToPass(rule: Rule, rules: readonly Rule[]): boolean {
  return letsPass(rule) && !rules.some((other) => other.id !== rule.id && letsPass(other));
}

function useAddRule(networkId: string) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  return useMutation(
    trpc.rules.create.mutationOptions({
      onSuccess: async () => {
        await queryClient.invalidateQueries({ queryKey: trpc.rules.list.queryKey({ networkId }) });
        notify(strings.policy.added);
      },
    }),
  );
}
