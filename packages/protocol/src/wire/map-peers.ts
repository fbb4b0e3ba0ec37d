import { create, type MessageShape } from "@bufbuild/protobuf";

import {
  ipFromBytes,
  ipToBytes,
  isIpv4,
  isIpv6,
  type IpAddress,
  type Ipv4Address,
  type Ipv6Address,
} from "../addresses.ts";
import { concatBytes } from "../bytes.ts";
import { ID_BYTES, peerIds, type PeerId } from "../ids.ts";
import { KEY_BYTES, keyBytes, publicKeyFromBytes } from "../keys.ts";
import { LINK_PROFILE_BYTES, type LinkProfile, linkProfileFromBytes, linkProfileToBytes } from "../link-profile.ts";
import { isPeerName } from "../names.ts";
import type { MapPeer } from "../network-map.ts";
import { Secret } from "../secret.ts";
import { MapPeersSchema } from "./agent_pb.ts";
import { packEndpoints, packPrefixes, unpackEndpoints, unpackPrefixes } from "./block.ts";
import { column, FieldError, parsed, within, word } from "./checks.ts";

/** Peers as columns. */
export function peersToWire(peers: readonly MapPeer[]): MessageShape<typeof MapPeersSchema> {
  const endpoints = packEndpoints(peers.map((peer) => peer.endpoints));
  const routes = packPrefixes(peers.map((peer) => peer.routes));
  const preshared = peers.flatMap((peer, place) =>
    peer.presharedKey ? [{ place, key: peer.presharedKey.expose() }] : [],
  );
  const profiles = peers.flatMap((peer, place) =>
    peer.profile ? [{ place, bytes: linkProfileToBytes(peer.profile) }] : [],
  );
  const clients = peers.flatMap((peer, place) => (peer.gateway ? [{ place, gateway: peer.gateway }] : []));
  return create(MapPeersSchema, {
    ids: packIds(peers.map((peer) => peer.id)),
    publicKeys: concatBytes(peers.map((peer) => keyBytes(peer.publicKey))),
    names: peers.map((peer) => peer.name),
    ipv4: concatBytes(peers.map((peer) => addressOrZero(peer.ipv4, 4))),
    ipv6: concatBytes(peers.map((peer) => addressOrZero(peer.ipv6, 16))),
    keepaliveSeconds: peers.map((peer) => peer.keepaliveSeconds),
    endpointCounts: endpoints.counts,
    endpoints: endpoints.bytes,
    routeCounts: routes.counts,
    routes: routes.bytes,
    presharedPlaces: preshared.map((entry) => entry.place),
    presharedKeys: concatBytes(preshared.map((entry) => entry.key)),
    profilePlaces: profiles.map((entry) => entry.place),
    profiles: concatBytes(profiles.map((entry) => entry.bytes)),
    gatewayPlaces: clients.map((entry) => entry.place),
    gatewayIds: packIds(clients.map((entry) => entry.gateway)),
  });
}

/** Columns back to peers; every column must have one entry per peer. */
export function peersFromWire(message: MessageShape<typeof MapPeersSchema>): MapPeer[] {
  const ids = unpackIds("peers.ids", message.ids);
  const rows = ids.length;
  const names = column("peers.names", message.names, rows);
  const keepalives = column("peers.keepalive", message.keepaliveSeconds, rows);
  const keys = slices("peers.public_keys", message.publicKeys, { width: KEY_BYTES, rows });
  const ipv4 = slices("peers.ipv4", message.ipv4, { width: 4, rows });
  const ipv6 = slices("peers.ipv6", message.ipv6, { width: 16, rows });
  column("peers.endpoint_counts", message.endpointCounts, rows);
  column("peers.route_counts", message.routeCounts, rows);
  const endpoints = unpackEndpoints("peers.endpoints", { counts: message.endpointCounts, bytes: message.endpoints });
  const routes = unpackPrefixes("peers.routes", { counts: message.routeCounts, bytes: message.routes });
  const preshared = presharedByPlace(message, rows);
  const profiles = profilesByPlace(message, rows);
  const gateways = gatewaysByPlace(message, rows);
  if (new Set(ids).size !== rows) throw new FieldError("peers.ids", "an id appears twice");
  return ids.map((id, place) => {
    const presharedKey = preshared.get(place);
    const peer: MapPeer = {
      id,
      name: word("peers.names", names[place] ?? "", isPeerName),
      publicKey: parsed("peers.public_keys", publicKeyFromBytes(keys[place] ?? EMPTY)),
      ipv4: ipv4OrNull(ipv4[place] ?? EMPTY),
      ipv6: ipv6OrNull(ipv6[place] ?? EMPTY),
      routes: routes[place] ?? [],
      endpoints: endpoints[place] ?? [],
      keepaliveSeconds: within("peers.keepalive", keepalives[place] ?? 0, { min: 0, max: 65_535 }),
    };
    const [profile, gateway] = [profiles.get(place), gateways.get(place)];
    return presharedKey || profile || gateway
      ? Object.assign(peer, presharedKey && { presharedKey }, profile && { profile }, gateway && { gateway })
      : peer;
  });
}

/** Ids of 16 bytes, one after the other. */
export function packIds(ids: readonly PeerId[]): Uint8Array {
  return concatBytes(ids.map((id) => peerIds.toBytes(id)));
}

export function unpackIds(field: string, bytes: Uint8Array): PeerId[] {
  const rows = Math.ceil(bytes.length / ID_BYTES);
  return slices(field, bytes, { width: ID_BYTES, rows }).map((slice) => parsed(field, peerIds.fromBytes(slice)));
}

/** Reads an address that is empty or all zero when absent. */
export function ipv4OrNull(bytes: Uint8Array): Ipv4Address | null {
  const address = addressOrNull(bytes);
  if (address === null || isIpv4(address)) return address;
  throw new FieldError("ipv4", "not an IPv4 address");
}

export function ipv6OrNull(bytes: Uint8Array): Ipv6Address | null {
  const address = addressOrNull(bytes);
  if (address === null || isIpv6(address)) return address;
  throw new FieldError("ipv6", "not an IPv6 address");
}

function addressOrNull(bytes: Uint8Array): IpAddress | null {
  return bytes.every((byte) => byte === 0) ? null : parsed("address", ipFromBytes(bytes));
}

function addressOrZero(address: IpAddress | null, width: number): Uint8Array {
  return address === null ? new Uint8Array(width) : ipToBytes(address);
}

function slices(
  field: string,
  bytes: Uint8Array,
  shape: { readonly width: number; readonly rows: number },
): Uint8Array[] {
  const { width, rows } = shape;
  if (bytes.length !== width * rows) throw new FieldError(field, `${bytes.length} bytes for ${rows} rows of ${width}`);
  const parts: Uint8Array[] = [];
  for (let row = 0; row < rows; row += 1) parts.push(bytes.subarray(row * width, (row + 1) * width));
  return parts;
}

function presharedByPlace(message: MessageShape<typeof MapPeersSchema>, rows: number): Map<number, Secret<Uint8Array>> {
  const shape = { width: KEY_BYTES, rows: message.presharedPlaces.length };
  const keys = slices("peers.preshared_keys", message.presharedKeys, shape);
  return new Map(
    message.presharedPlaces.map((place, index) => [
      within("peers.preshared_places", place, { min: 0, max: rows - 1 }),
      new Secret(Uint8Array.from(keys[index] ?? EMPTY)),
    ]),
  );
}

function profilesByPlace(message: MessageShape<typeof MapPeersSchema>, rows: number): Map<number, LinkProfile> {
  const shape = { width: LINK_PROFILE_BYTES, rows: message.profilePlaces.length };
  const profiles = slices("peers.profiles", message.profiles, shape);
  return new Map(
    message.profilePlaces.map((place, index) => [
      within("peers.profile_places", place, { min: 0, max: rows - 1 }),
      parsed("peers.profiles", linkProfileFromBytes(profiles[index] ?? EMPTY)),
    ]),
  );
}

function gatewaysByPlace(message: MessageShape<typeof MapPeersSchema>, rows: number): Map<number, PeerId> {
  const ids = unpackIds("peers.gateway_ids", message.gatewayIds);
  column("peers.gateway_places", message.gatewayPlaces, ids.length);
  return new Map(
    ids.map((id, index) => [
      within("peers.gateway_places", message.gatewayPlaces[index] ?? -1, { min: 0, max: rows - 1 }),
      id,
    ]),
  );
}

const EMPTY = new Uint8Array(0);
