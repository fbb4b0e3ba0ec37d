import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { Diagnosis } from "../../../api/types.ts";
import type { DiagnoseSearch } from "../../../routes.ts";
import { pageStrings } from "../../../strings/pages.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { LoadingPanel, ProblemPanel } from "../../../ui/panels.tsx";
import { Status, type StatusKind } from "../../../ui/status.tsx";

export type Question = DiagnoseSearch & { readonly from: string; readonly to: string };

/** The checks between two peers, in the order in which they matter. */
export function Chain({ question }: { readonly question: Question }): ReactNode {
  const text = pageStrings.diagnose;
  const trpc = useTRPC();
  const { from, to, protocol, port } = question;
  const asked = useQuery(
    trpc.peers.diagnose.queryOptions({
      peerId: from,
      targetPeerId: to,
      ...(protocol ? { protocol } : {}),
      ...(port === undefined ? {} : { port }),
    }),
  );
  const names = useNames(from, to);

  return (
    <Card
      title={text.chain}
      actions={
        <Button icon="refresh" isPending={asked.isFetching} onPress={() => void asked.refetch()}>
          {text.refresh}
        </Button>
      }
    >
      {asked.error ? (
        <ProblemPanel problem={toProblem(asked.error)} onRetry={() => void asked.refetch()} />
      ) : !asked.data ? (
        <LoadingPanel label={text.loading} />
      ) : (
        <div aria-live="polite">
          <p className="verdict">
            <Status kind={VERDICTS[asked.data.verdict]}>{text.verdict[asked.data.verdict](...names)}</Status>
          </p>
          <ol className="chain">
            {asked.data.steps.map((step) => (
              <Step key={step.step} step={step} />
            ))}
          </ol>
        </div>
      )}
    </Card>
  );
}

function Step({ step }: { readonly step: Diagnosis["steps"][number] }): ReactNode {
  const text = pageStrings.diagnose;
  return (
    <li className="chain-step" data-outcome={step.outcome}>
      <strong>{text.steps[step.step]}</strong>
      <Status kind={OUTCOMES[step.outcome]}>{text.outcome[step.outcome]}</Status>
      <span className="soft" dir="auto">
        {step.reason}
      </span>
    </li>
  );
}

/** What the two are called; their ids until that is known. */
function useNames(from: string, to: string): readonly [string, string] {
  const trpc = useTRPC();
  const first = useQuery(trpc.peers.get.queryOptions({ peerId: from }));
  const second = useQuery(trpc.peers.get.queryOptions({ peerId: to }));
  return [first.data?.name ?? from, second.data?.name ?? to];
}

const VERDICTS: Record<Diagnosis["verdict"], StatusKind> = { reaches: "good", cannot: "bad", unclear: "warn" };
const OUTCOMES: Record<Diagnosis["steps"][number]["outcome"], StatusKind> = {
  good: "good",
  bad: "bad",
  unknown: "idle",
};
