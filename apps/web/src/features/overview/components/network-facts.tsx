import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import { strings } from "../../../strings/index.ts";
import { Card } from "../../../ui/card.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { LoadingPanel, ProblemPanel } from "../../../ui/panels.tsx";

/** Ranges and age of the network. */
export function NetworkFacts({ networkId }: { readonly networkId: string }): ReactNode {
  const text = strings.overview.ranges;
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(trpc.networks.get.queryOptions({ networkId }));
  return (
    <Card title={data?.name ?? text.title}>
      {data ? (
        <Facts>
          <Fact name={text.ipv4}>
            <Range range={data.ipv4Range} />
          </Fact>
          <Fact name={text.ipv6}>
            <Range range={data.ipv6Range} />
          </Fact>
          <Fact name={text.created}>
            <Moment at={data.createdAt} />
          </Fact>
        </Facts>
      ) : error ? (
        <ProblemPanel problem={toProblem(error)} onRetry={() => void refetch()} />
      ) : (
        <LoadingPanel label={strings.overview.loading} />
      )}
    </Card>
  );
}

function Range({ range }: { readonly range: string | null }): ReactNode {
  if (range === null) return <span className="faint">{strings.overview.ranges.none}</span>;
  return (
    <span className="with-copy">
      <code>{range}</code>
      <CopyButton text={range} what={strings.peers.address(range)} />
    </span>
  );
}
