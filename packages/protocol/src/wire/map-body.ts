import { create, toBinary, type MessageShape } from "@bufbuild/protobuf";

import { ipToBytes, parsePrefix, type Prefix } from "../addresses.ts";
import { FLOW_SAMPLING_MAX } from "../flow-records.ts";
import { concealProfileIds, networkIds, peerIds } from "../ids.ts";
import { isPeerName, isTitle } from "../names.ts";
import type { MapConceal, MapDelta, MapSelf, NetworkMap } from "../network-map.ts";
import type { Result } from "../result.ts";
import { Secret } from "../secret.ts";
import { ConcealSettingsSchema, MapDeltaSchema, MapSelfSchema, NetworkMapSchema } from "./agent_pb.ts";
import { FieldError, parsed, present, within, word, oneOf } from "./checks.ts";
import { decodeWith, type DecodeError } from "./decode.ts";
import { filterFromWire, filterToWire, setChangesFromWire, setChangesToWire } from "./map-filter.ts";
import { namesFromWire, namesToWire } from "./map-names.ts";
import { roadsFromWire, roadsToWire } from "./map-roads.ts";
import { ipv4OrNull, ipv6OrNull, packIds, peersFromWire, peersToWire, unpackIds } from "./map-peers.ts";

/** Encodes a whole map: the body of a snapshot. */
export function encodeMapBody(map: NetworkMap): Uint8Array {
  const message = create(NetworkMapSchema, {
    self: selfToWire(map.self),
    peers: peersToWire(map.peers),
    filter: filterToWire(map.filter),
    ...(map.names ? { names: namesToWire(map.names) } : {}),
  });
  return toBinary(NetworkMapSchema, message);
}

/** Reads and checks the body of a snapshot. */
export function decodeMapBody(bytes: Uint8Array): Result<NetworkMap, DecodeError> {
  return decodeWith(NetworkMapSchema, { bytes, bytesMax: MAP_BODY_BYTES_MAX }, (message) => {
    const names = message.names && namesFromWire(message.names);
    return {
      self: selfFromWire(present("self", message.self)),
      peers: message.peers ? peersFromWire(message.peers) : [],
      filter: message.filter ? filterFromWire(message.filter) : [],
      ...(names && { names }),
    };
  });
}

/** Encodes a change: the body of a delta frame. Equal changes of several nodes are encoded once. */
export function encodeDeltaBody(delta: MapDelta): Uint8Array {
  const message = create(MapDeltaSchema, {
    ...(delta.self ? { self: selfToWire(delta.self) } : {}),
    ...(delta.upserts.length > 0 ? { upserts: peersToWire(delta.upserts) } : {}),
    removals: packIds(delta.removals),
    ...(delta.filter ? { filter: filterToWire(delta.filter) } : {}),
    ...(delta.filterSets ? { filterSets: setChangesToWire(delta.filterSets) } : {}),
    ...(delta.names === undefined ? {} : { names: namesToWire(delta.names) }),
  });
  return toBinary(MapDeltaSchema, message);
}

/** Reads and checks the body of a delta frame. */
export function decodeDeltaBody(bytes: Uint8Array): Result<MapDelta, DecodeError> {
  return decodeWith(MapDeltaSchema, { bytes, bytesMax: MAP_BODY_BYTES_MAX }, (message) => ({
    ...(message.self ? { self: selfFromWire(message.self) } : {}),
    upserts: message.upserts ? peersFromWire(message.upserts) : [],
    removals: unpackIds("removals", message.removals),
    ...filterPartFromWire(message),
    ...(message.names ? { names: namesFromWire(message.names) } : {}),
  }));
}

function filterPartFromWire(message: MessageShape<typeof MapDeltaSchema>): Pick<MapDelta, "filter" | "filterSets"> {
  if (message.filter && message.filterSets) throw new FieldError("filter_sets", "beside a whole filter");
  return {
    ...(message.filter ? { filter: filterFromWire(message.filter) } : {}),
    ...(message.filterSets ? { filterSets: setChangesFromWire(message.filterSets) } : {}),
  };
}

function selfToWire(self: MapSelf): MessageShape<typeof MapSelfSchema> {
  return create(MapSelfSchema, {
    peerId: peerIds.toBytes(self.peerId),
    name: self.name,
    networkId: networkIds.toBytes(self.networkId),
    networkName: self.networkName,
    ipv4: self.ipv4 ? ipToBytes(self.ipv4) : EMPTY,
    ipv6: self.ipv6 ? ipToBytes(self.ipv6) : EMPTY,
    ipv4Range: self.ipv4Range ?? "",
    ipv6Range: self.ipv6Range ?? "",
    mtu: self.mtu,
    listenPort: self.listenPort,
    profileFallback: self.profileFallback ?? "",
    ...(self.conceal ? { conceal: concealToWire(self.conceal) } : {}),
    flowSampling: self.flowSampling ?? 0,
    ...roadsToWire(self),
  });
}

function concealToWire({ profileId, version, settings }: MapConceal): MessageShape<typeof ConcealSettingsSchema> {
  return create(ConcealSettingsSchema, { profileId, version, settings: settings.expose() });
}

function concealFromWire(message: MessageShape<typeof ConcealSettingsSchema>): MapConceal {
  const { settings } = message;
  if (settings.length > CONCEAL_TEXT_MAX) throw new FieldError("self.conceal.settings", "too long");
  return {
    profileId: parsed("self.conceal.profile_id", concealProfileIds.parse(message.profileId)),
    version: within("self.conceal.version", message.version, { min: 1, max: 0xffff_ffff }),
    settings: new Secret(settings),
  };
}

function selfFromWire(message: MessageShape<typeof MapSelfSchema>): MapSelf {
  const { profileFallback, flowSampling } = message;
  return {
    peerId: parsed("self.peer_id", peerIds.fromBytes(message.peerId)),
    name: word("self.name", message.name, isPeerName),
    networkId: parsed("self.network_id", networkIds.fromBytes(message.networkId)),
    networkName: word("self.network_name", message.networkName, isTitle),
    ipv4: ipv4OrNull(message.ipv4),
    ipv6: ipv6OrNull(message.ipv6),
    ipv4Range: prefixOrNull("self.ipv4_range", message.ipv4Range),
    ipv6Range: prefixOrNull("self.ipv6_range", message.ipv6Range),
    mtu: within("self.mtu", message.mtu, { min: 1280, max: 65_535 }),
    listenPort: within("self.listen_port", message.listenPort, { min: 0, max: 65_535 }),
    ...(profileFallback === ""
      ? {}
      : { profileFallback: word("self.profile_fallback", profileFallback, isProfileFallback) }),
    ...(message.conceal ? { conceal: concealFromWire(message.conceal) } : {}),
    ...(flowSampling === 0
      ? {}
      : { flowSampling: within("self.flow_sampling", flowSampling, { min: 1, max: FLOW_SAMPLING_MAX }) }),
    ...roadsFromWire(message),
  };
}

function prefixOrNull(field: string, text: string): Prefix | null {
  if (text === "") return null;
  const prefix = parsed(field, parsePrefix(text));
  if (prefix !== text) throw new FieldError(field, "not in canonical form");
  return prefix;
}

const isProfileFallback = oneOf(["plain", "refuse"]);
const EMPTY = new Uint8Array(0);
/** Five signature packets of a whole datagram each, as hex. */
const CONCEAL_TEXT_MAX = 700_000;

/** Longest map body before compression; about 600,000 peers. */
export const MAP_BODY_BYTES_MAX = 64 * 1024 * 1024;
