import type { Peer } from "../../api/types.ts";
import { pageStrings } from "../../strings/pages.ts";
import type { StatusKind } from "../../ui/status.tsx";
import { type PeersById, peerName } from "./route-text.ts";

/** How the other traffic of a peer leaves now. `detail` is what the server or the host says about it. */
export type ExitState = { readonly kind: StatusKind; readonly sentence: string; readonly detail: string | null };

/** Reads the state of an exit choice from what is known of both peers; null when the peer chose none. */
export function exitState(peer: Peer, peers: PeersById): ExitState | null {
  const text = pageStrings.exits.now;
  if (peer.exit === null) return null;
  const { peerId, lost } = peer.exit;
  const problem = peer.problems.find((line) => line.startsWith(EXIT_PROBLEM));
  if (problem !== undefined) {
    const kind = lost === "blocked" ? "bad" : "warn";
    return { kind, sentence: text[lost], detail: problem.slice(EXIT_PROBLEM.length).trim() };
  }
  if (peer.presence !== "online") return { kind: "idle", sentence: text.away, detail: null };
  const name = peerName(peers, peerId);
  // The server not hearing of a peer does not end its tunnels; only the host that uses it could tell.
  if (peers.get(peerId)?.presence !== "online") return { kind: "warn", sentence: text.doubt[lost](name), detail: null };
  return { kind: "good", sentence: text.through(name), detail: null };
}

/** How problems about the exit node begin. */
const EXIT_PROBLEM = "exit:";
