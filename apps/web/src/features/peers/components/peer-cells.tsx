import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Peer } from "../../../api/types.ts";
import { formatDuration } from "../../../format/time.ts";
import { paths } from "../../../routes.ts";
import { strings } from "../../../strings/index.ts";
import { Chip } from "../../../ui/chip.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Moment } from "../../../ui/moment.tsx";

type CellProps = { readonly peer: Peer };

export function NameCell({ peer }: CellProps): ReactNode {
  return (
    <span className="with-copy">
      <Link
        to={paths.peer}
        params={{ networkId: peer.networkId, peerId: peer.id }}
        className="name-link"
        dir="auto"
        title={peer.name}
      >
        {peer.name}
      </Link>
      <CopyButton text={peer.name} what={strings.peers.nameWhat(peer.name)} />
    </span>
  );
}

export function AddressesCell({ peer }: CellProps): ReactNode {
  const addresses = [peer.ipv4, peer.ipv6].filter((address) => address !== null);
  return (
    <ul className="addresses">
      {addresses.map((address) => (
        <li key={address} className="with-copy">
          <code>{address}</code>
          <CopyButton text={address} what={strings.peers.address(address)} />
        </li>
      ))}
    </ul>
  );
}

export function EndpointCell({ peer }: CellProps): ReactNode {
  const text = strings.peers;
  if (!peer.endpoint) return <span className="faint">{text.noEndpoint}</span>;
  const source = peer.endpoints.find((candidate) => candidate.address === peer.endpoint)?.source;
  return (
    <div>
      <span className="with-copy">
        <code>{peer.endpoint}</code>
        <CopyButton text={peer.endpoint} what={text.endpointOf(peer.endpoint)} />
      </span>
      {source ? <div className="cell-note">{text.sources[source]}</div> : null}
    </div>
  );
}

export function SeenCell({ peer }: CellProps): ReactNode {
  if (!peer.lastSeenAt) return <span className="faint">{strings.common.never}</span>;
  return <Moment at={peer.lastSeenAt} />;
}

export function MapCell({ peer }: CellProps): ReactNode {
  return (
    <span title={strings.peers.mapHint(peer.map.sequence)}>
      <MapChip peer={peer} />
    </span>
  );
}

/** Whether the peer runs on the newest network map. */
export function MapChip({ peer }: CellProps): ReactNode {
  const text = strings.peers.map;
  switch (peer.map.state) {
    case "applied":
      return (
        <Chip tone="good">
          {peer.map.appliedAfterMs === null ? text.applied : text.appliedAfter(shortTime(peer.map.appliedAfterMs))}
        </Chip>
      );
    case "pending":
      return <Chip tone="warn">{text.pending}</Chip>;
    case "none":
      return <Chip>{text.none}</Chip>;
  }
}

function shortTime(milliseconds: number): string {
  return milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : formatDuration(milliseconds);
}
