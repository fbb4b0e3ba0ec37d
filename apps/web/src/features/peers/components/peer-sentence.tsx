import type { ReactNode } from "react";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Moment } from "../../../ui/moment.tsx";
import { Status } from "../../../ui/status.tsx";
import { PRESENCE_KINDS } from "../../../api/presence.ts";
import { MapChip } from "./peer-cells.tsx";

/** Whether the peer is there, since when, and whether it runs on the newest map. */
export function PeerSentence({ peer }: { readonly peer: Peer }): ReactNode {
  return (
    <span className="peer-sentence">
      <Status kind={PRESENCE_KINDS[peer.presence]}>{strings.peers.presence[peer.presence]}</Status>
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
