import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTRPC } from "../../../api/context.ts";
import { toProblem } from "../../../api/error-text.ts";
import type { FlowRecord, Peer } from "../../../api/types.ts";
import { paths } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { Card } from "../../../ui/card.tsx";
import { EmptyPanel, LoadingPanel, ProblemPanel } from "../../../ui/panels.tsx";
import { FlowsTable } from "./flows-table.tsx";

export type FlowsCardProps = { readonly peer: Peer };

/** What goes on at a peer now, and what it reported last; only where the network asks for flows. */
export function FlowsCard({ peer }: FlowsCardProps): ReactNode {
  const text = strings.flows;
  const trpc = useTRPC();
  const { networkId } = peer;
  const network = useQuery(trpc.networks.get.queryOptions({ networkId }));
  if (!network.data) return null;
  if (network.data.flowSampling === null) {
    return (
      <Card title={text.title}>
        <p className="soft">
          {text.off}{" "}
          <Link to={paths.settings} params={{ networkId }}>
            {text.toSettings}
          </Link>
        </p>
      </Card>
    );
  }
  return <RecordedFlows peer={peer} sampling={network.data.flowSampling} />;
}

function RecordedFlows({ peer, sampling }: { readonly peer: Peer; readonly sampling: number }): ReactNode {
  const text = strings.flows;
  const trpc = useTRPC();
  const { id: peerId, networkId } = peer;
  const options = { refetchInterval: REFRESH_MS };
  const top = useQuery({ ...trpc.flowLogs.top.queryOptions({ peerId, limit: 10 }), ...options });
  const recent = useQuery({ ...trpc.flowLogs.list.queryOptions({ networkId, peerId, limit: 50 }), ...options });
  const rules = useQuery(trpc.rules.list.queryOptions({ networkId }));
  const peers = useQuery(trpc.peers.list.queryOptions({ networkId, limit: 500 }));
  const names = new Map(
    [...(rules.data?.items ?? []), ...(peers.data?.items ?? [])].map(({ id, name }) => [id, name] as const),
  );
  const hint = sampling === 1 ? text.hint : text.sampledHint(sampling);
  const part = (
    query: { readonly data?: { readonly items: readonly FlowRecord[] } | undefined; readonly error: unknown },
    own: { readonly title: string; readonly hint: string; readonly empty: string },
  ): ReactNode => (
    <Card title={own.title} hint={own.hint} body="flush">
      {!query.data && query.error ? (
        <ProblemPanel problem={toProblem(query.error)} />
      ) : !query.data ? (
        <LoadingPanel label={text.loading} />
      ) : query.data.items.length === 0 ? (
        <EmptyPanel title={own.empty} />
      ) : (
        <FlowsTable label={own.title} flows={query.data.items} names={names} />
      )}
    </Card>
  );
  return (
    <>
      {part(top, { title: text.top, hint, empty: text.noTop })}
      {part(recent, { title: text.recent, hint: text.recentHint, empty: text.noRecent })}
    </>
  );
}

const REFRESH_MS = 5_000;
