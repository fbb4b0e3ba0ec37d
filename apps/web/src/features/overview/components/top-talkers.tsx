import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type NetworkLive, SPARK_STEPS } from "../../../api/live/network-live.ts";
import { useStore } from "../../../api/live/use-live.ts";
import type { Peer } from "../../../api/types.ts";
import { paths } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { Card } from "../../../ui/card.tsx";
import { RateTrend } from "../../../ui/rate-trend.tsx";

export type TopTalkersProps = { readonly peers: readonly Peer[]; readonly live: NetworkLive };

/** The peers with the most traffic in the last minute. */
export function TopTalkers({ peers, live }: TopTalkersProps): ReactNode {
  const text = strings.overview.talkers;
  useStore(live.samples);
  const talkers = peers
    .map((peer) => {
      const rates = live.rates(peer.id);
      return { peer, rates, sum: sum(rates?.rx) + sum(rates?.tx) };
    })
    .filter((row) => row.sum > 0)
    .toSorted((a, b) => b.sum - a.sum || a.peer.name.localeCompare(b.peer.name))
    .slice(0, SHOWN_MAX);

  return (
    <Card title={text.title} hint={text.hint}>
      {talkers.length === 0 ? (
        <p className="soft">{text.none}</p>
      ) : (
        <ol className="talkers">
          {talkers.map(({ peer, rates }) => (
            <li key={peer.id}>
              <Link
                to={paths.peer}
                params={{ networkId: peer.networkId, peerId: peer.id }}
                className="name-link"
                dir="auto"
              >
                {peer.name}
              </Link>
              <RateTrend name={peer.name} rates={rates} steps={SPARK_STEPS} />
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function sum(values: readonly (number | null)[] | undefined): number {
  return (values ?? []).reduce<number>((total, value) => total + (value ?? 0), 0);
}

const SHOWN_MAX = 5;
