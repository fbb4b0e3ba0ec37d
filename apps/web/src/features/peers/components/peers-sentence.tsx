import type { ReactNode } from "react";
import type { Peer } from "../../../api/types.ts";
import { strings } from "../../../strings/index.ts";

/** How many are online, and whether every change has been applied. */
export function PeersSentence({ peers }: { readonly peers: readonly Peer[] }): ReactNode {
  const online = peers.filter((peer) => peer.presence === "online").length;
  const pending = peers.filter((peer) => peer.map.state === "pending").length;
  return (
    <>
      {strings.peers.sentence(online, peers.length)}
      {", "}
      {pending === 0 ? strings.peers.applied : strings.peers.pending(pending)}.
    </>
  );
}
