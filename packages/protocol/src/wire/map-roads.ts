import type { MessageShape } from "@bufbuild/protobuf";

import { parsePrefix, type Prefix } from "../addresses.ts";
import { peerIds } from "../ids.ts";
import type { ExitChoice, MapSelf, ServedRoute } from "../network-map.ts";
import type { MapSelfSchema } from "./agent_pb.ts";
import { FieldError, oneOf, parsed, within, word } from "./checks.ts";

type WireSelf = MessageShape<typeof MapSelfSchema>;

/** What a node forwards into, and where its own traffic leaves. */
export function roadsToWire({ serves = [], exit }: MapSelf) {
  return {
    servedRoutes: serves.map(({ prefix }) => prefix),
    masqueradedPlaces: serves.flatMap(({ masquerade }, place) => (masquerade === "on" ? [place] : [])),
    ...(exit ? { exitPeerId: peerIds.toBytes(exit.peerId), exitLan: exit.lan, exitLost: exit.lost } : {}),
  };
}

export function roadsFromWire(message: WireSelf): Pick<MapSelf, "serves" | "exit"> {
  const serves = servesFromWire(message);
  return {
    ...(serves.length > 0 ? { serves } : {}),
    ...(message.exitPeerId.length > 0 ? { exit: exitFromWire(message) } : {}),
  };
}

function servesFromWire({ servedRoutes, masqueradedPlaces }: WireSelf): ServedRoute[] {
  const range = { min: 0, max: servedRoutes.length - 1 };
  const masqueraded = new Set(masqueradedPlaces.map((place) => within("self.masqueraded_places", place, range)));
  return servedRoutes.map((text, place) => ({
    prefix: canonical(text),
    masquerade: masqueraded.has(place) ? "on" : "off",
  }));
}

function exitFromWire({ exitPeerId, exitLan, exitLost }: WireSelf): ExitChoice {
  return {
    peerId: parsed("self.exit_peer_id", peerIds.fromBytes(exitPeerId)),
    lan: word("self.exit_lan", exitLan, isLan),
    lost: word("self.exit_lost", exitLost, isLost),
  };
}

function canonical(text: string): Prefix {
  const prefix = parsed("self.served_routes", parsePrefix(text));
  if (prefix !== text) throw new FieldError("self.served_routes", "not in canonical form");
  return prefix;
}

const isLan = oneOf(["reachable", "blocked"]);
const isLost = oneOf(["blocked", "direct"]);
