import type { ReactNode } from "react";
import { type NetworkLive, SPARK_STEPS } from "../../../api/live/network-live.ts";
import { useStore } from "../../../api/live/use-live.ts";
import type { Peer } from "../../../api/types.ts";
import { RateTrend } from "../../../ui/rate-trend.tsx";

export type RateCellProps = { readonly peer: Peer; readonly live: NetworkLive };

/** The last minute of one peer; renders by itself on every sample. */
export function RateCell({ peer, live }: RateCellProps): ReactNode {
  useStore(live.samples);
  return <RateTrend name={peer.name} rates={live.rates(peer.id)} steps={SPARK_STEPS} />;
}
