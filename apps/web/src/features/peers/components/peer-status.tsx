import type { ReactNode } from "react";
import { STANDING_KINDS, standingOf } from "../../../api/presence.ts";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";
import { Status } from "../../../ui/status.tsx";

/** Whether a peer is there, or expired, as shape and word. */
export function PeerStatus({ peer }: { readonly peer: Peer }): ReactNode {
  const standing = standingOf(peer);
  return <Status kind={STANDING_KINDS[standing]}>{strings.peers.standing[standing]}</Status>;
}
