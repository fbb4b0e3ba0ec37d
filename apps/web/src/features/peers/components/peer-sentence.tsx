import type { ReactNode } from "react";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Moment } from "../../../ui/moment.tsx";
import { MapChip } from "./peer-cells.tsx";
import { PeerStatus } from "./peer-status.tsx";

/** Whether the peer is there, since when, and whether it runs on the newest map. */
export function PeerSentence({ peer }: { readonly peer: Peer }): ReactNode {
  return (
    <span className="peer-sentence">
      <PeerStatus peer={peer} />
      {peer.lastSeenAt ? (
        <span>
          {strings.peer.seen} <Moment at={peer.lastSeenAt} />
        </span>
      ) : null}
      <span className="peer-map">
        {strings.peer.map} <MapChip peer={peer} />
      </span>
    </span>
  );
}
