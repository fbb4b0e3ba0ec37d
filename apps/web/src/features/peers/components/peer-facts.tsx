import type { ReactNode } from "react";
import type { Peer } from "../../../api/types.ts";
import { shortKey } from "../../../format/short-key.ts";
import { strings } from "../../../strings/index.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { Status } from "../../../ui/status.tsx";
import { clockProblem, clockText } from "../../../format/clock.ts";
import { AddressesCell, EndpointCell } from "./peer-cells.tsx";

/** The identity line: addresses, keys, system, version. */
export function PeerFacts({ peer }: { readonly peer: Peer }): ReactNode {
  const text = strings.peer;
  return (
    <Facts>
      <Fact name={text.facts.addresses}>
        <AddressesCell peer={peer} />
      </Fact>
      <Fact name={text.facts.endpoint}>
        <EndpointCell peer={peer} />
        <Candidates peer={peer} />
      </Fact>
      <Fact name={text.facts.key}>
        <span className="with-copy">
          <code title={peer.publicKey}>{shortKey(peer.publicKey)}</code>
          <CopyButton text={peer.publicKey} what={text.keyWhat} />
        </span>
      </Fact>
      <Fact name={text.facts.fingerprint}>
        <span className="with-copy">
          <code>{peer.fingerprint}</code>
          <CopyButton text={peer.fingerprint} what={text.fingerprintWhat} />
        </span>
      </Fact>
      <Fact name={text.facts.system}>
        {peer.os} {peer.arch}
      </Fact>
      <Fact name={text.facts.agent}>{peer.agentVersion}</Fact>
      <Fact name={text.facts.clock}>
        {clockProblem(peer.clockSkewMs) === undefined ? (
          clockText(peer.clockSkewMs)
        ) : (
          <Status kind="warn">{clockText(peer.clockSkewMs)}</Status>
        )}
      </Fact>
      <Fact name={text.facts.joined}>
        <Moment at={peer.createdAt} />
      </Fact>
    </Facts>
  );
}

function Candidates({ peer }: { readonly peer: Peer }): ReactNode {
  const others = peer.endpoints.filter((candidate) => candidate.address !== peer.endpoint);
  if (others.length === 0) return null;
  return (
    <details className="candidates">
      <summary>{strings.peer.candidates(others.length)}</summary>
      <ul className="addresses">
        {others.map((candidate) => (
          <li key={`${candidate.address} ${candidate.source}`}>
            <span className="with-copy">
              <code>{candidate.address}</code>
              <CopyButton text={candidate.address} what={strings.peers.endpointOf(candidate.address)} />
            </span>
            <span className="cell-note">{strings.peers.sources[candidate.source]}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
