import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Peer } from "../../../api/types.ts";
import { paths } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { Status } from "../../../ui/status.tsx";
import { PeerStatus } from "./peer-status.tsx";

export type ArrivalsProps = { readonly peers: readonly Peer[]; readonly total: number };

/** Hosts as they arrive, each with the fingerprint to compare. Only the line below is read aloud: ages in the list tick. */
export function Arrivals({ peers, total }: ArrivalsProps): ReactNode {
  const text = strings.addHost;
  const newest = peers.at(-1);
  return (
    <section className="arrivals" aria-label={text.arrivals}>
      <div className="arrivals-box">
        <ol aria-label={text.arrivals}>
          {peers.map((peer) => (
            <li key={peer.id} className="arrival">
              <PeerStatus peer={peer} />
              <Link
                to={paths.peer}
                params={{ networkId: peer.networkId, peerId: peer.id }}
                className="arrival-name"
                dir="auto"
              >
                {peer.name}
              </Link>
              <span className="arrival-address mono">{peer.ipv4 ?? peer.ipv6}</span>
              <span className="arrival-print" title={text.fingerprintHint}>
                <span className="faint">{text.fingerprint}</span> <code>{peer.fingerprint}</code>
                <CopyButton text={peer.fingerprint} what={strings.peer.fingerprintWhat} />
              </span>
              <span className="arrival-when faint">
                {text.joined} <Moment at={peer.createdAt} />
              </span>
            </li>
          ))}
        </ol>
        <p className="arrival arrival-waiting" role="status">
          {newest ? <span className="visually-hidden">{text.arrived(newest.name)}</span> : null}
          <Status kind="busy">{total === 0 ? text.waiting : total === 1 ? text.second : text.waitingMore}</Status>
        </p>
      </div>
    </section>
  );
}
