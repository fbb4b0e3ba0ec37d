import { type ReactNode, useState } from "react";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Button } from "../../../ui/button.tsx";
import { useNow } from "../../../ui/clock.tsx";
import { Arrivals } from "./arrivals.tsx";
import { FirstPing } from "./first-ping.tsx";
import { JoinLine } from "./join-line.tsx";

export type AddHostFlowProps = {
  readonly networkId: string;
  readonly peers: readonly Peer[];
  readonly onDone: () => void;
};

/** One line to copy, a list that fills itself, and the first ping as soon as there are two. */
export function AddHostFlow({ networkId, peers, onDone }: AddHostFlowProps): ReactNode {
  const nowMs = useNow();
  const [opening] = useState(() => ({ atMs: nowMs, known: new Set(peers.map((peer) => peer.id)) }));
  const byArrival = peers.toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
  const arrived = byArrival.filter((peer) => !opening.known.has(peer.id) && isYoung(peer, opening.atMs));
  const pair = pingPair(byArrival, arrived);

  return (
    <div className="add-host">
      <JoinLine networkId={networkId} />
      <Arrivals peers={peers.length <= 2 ? byArrival : arrived} total={peers.length} />
      {pair ? <FirstPing key={`${pair.from.id} ${pair.to.id}`} from={pair.from} to={pair.to} /> : null}
      {peers.length > 0 ? (
        <div className="add-host-done">
          <Button look={pair ? "primary" : "secondary"} onPress={onDone}>
            {strings.addHost.done}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

/** Members of a large network come in several parts: one that is first heard of later is not new by that alone. */
function isYoung(peer: Peer, openedMs: number): boolean {
  return Date.parse(peer.createdAt) >= openedMs - CLOCKS_APART_MS;
}

/** How far the clocks of this computer and of the server may be apart. */
const CLOCKS_APART_MS = 300_000;

/** The newest arrival pings the newest of the others that is online. */
function pingPair(
  byArrival: readonly Peer[],
  arrived: readonly Peer[],
): { readonly from: Peer; readonly to: Peer } | null {
  const from = arrived.at(-1);
  const others = byArrival.filter((peer) => peer.id !== from?.id);
  const to = others.findLast((peer) => peer.presence === "online") ?? others.at(-1);
  return from && to ? { from, to } : null;
}
