import type { ReactNode } from "react";
import type { PeerLive } from "../../../api/live/peer-live.ts";
import type { Peer } from "../../../api/types.ts";
import { DataPlane } from "./data-plane.tsx";
import { FlowsCard } from "./flows-card.tsx";
import { LinksCard } from "./links-card.tsx";

export type TrafficCardsProps = { readonly peer: Peer; readonly live: PeerLive };

/** What goes through a peer: sessions, flows, and where the time of the data plane goes. */
export function TrafficCards({ peer, live }: TrafficCardsProps): ReactNode {
  return (
    <>
      <LinksCard networkId={peer.networkId} live={live} />
      <FlowsCard peer={peer} />
      <DataPlane live={live} />
    </>
  );
}
