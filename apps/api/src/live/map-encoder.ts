import { deflateRawSync } from "node:zlib";
import {
  deltaSigningBytes,
  encodeDeltaBody,
  encodeMapBody,
  encodeServerFrame,
  linkProfileToBytes,
  mapSigningBytes,
  splitMap,
} from "@weft/protocol";
import type { AddressSetChange, LinkProfile, MapDelta, PeerId, Prefix } from "@weft/protocol";
import { filterKey } from "../domain/filter-key.ts";
import { mapPeerFor, selfOf } from "../domain/map-content.ts";
import { namesKey } from "../domain/names.ts";
import { routeKind } from "../domain/route.ts";
import type { NetworkMirror } from "./network-mirror.ts";
import type { ServerIdentity } from "./server-identity.ts";

/** Makes signed frames out of maps and deltas. */
export type MapEncoder = {
  /** All frames of a whole map; `undefined` when the node takes no part any more. */
  readonly snapshot: (mirror: NetworkMirror, node: PeerId) => Uint8Array[] | undefined;
  /** One encoder per sending round: nodes with equal content share the bytes. */
  readonly round: (mirror: NetworkMirror) => DeltaRound;
};

export type DeltaRound = { readonly encode: (delta: MapDelta, baseSequence: bigint) => Uint8Array };

export function createMapEncoder(deps: {
  readonly identity: ServerIdentity;
  readonly clock: { readonly nowMs: () => number };
}): MapEncoder {
  const { identity, clock } = deps;
  return {
    snapshot(mirror, node) {
      const own = mirror.peers().get(node);
      if (own?.state !== "active") return undefined;
      const peers = [...mirror.peers().values()]
        .filter((peer) => mirror.maySee(node, peer.id))
        .map((peer) => mapPeerFor(own, peer));
      const { epoch, sequence } = mirror.network();
      const names = mirror.namesOf(node);
      const body = encodeMapBody({
        self: selfOf(mirror.network(), own),
        peers,
        filter: mirror.filterOf(node),
        ...(names && { names }),
      });
      const timeMs = clock.nowMs();
      const frames = splitMap({
        epoch,
        sequence,
        timeMs,
        compression: "deflate",
        bodyBytes: body.length,
        bytes: deflateRawSync(body, { level: 1 }),
        signature: identity.sign(mapSigningBytes({ epoch, sequence, timeMs, body })),
      });
      return frames.map(encodeServerFrame);
    },
    round(mirror) {
      const classes = new Map<string, Uint8Array>();
      return {
        encode(delta, baseSequence) {
          // The mirror stands still during a round, so ids say all about content.
          const key = delta.self ? undefined : classKey(delta, baseSequence);
          const shared = key === undefined ? undefined : classes.get(key);
          if (shared) return shared;
          const { epoch, sequence } = mirror.network();
          const signed = { epoch, sequence, baseSequence, timeMs: clock.nowMs(), body: encodeDeltaBody(delta) };
          const signature = identity.sign(deltaSigningBytes(signed));
          const bytes = encodeServerFrame({ kind: "delta", ...signed, signature });
          if (key !== undefined) classes.set(key, bytes);
          return bytes;
        },
      };
    },
  };
}

/** Profiles depend on who is told: nodes with the same capabilities still share the bytes. */
function profileKey(profile: LinkProfile): string {
  return linkProfileToBytes(profile).join(".");
}

/** Only who leaves through a peer is told that everything lies behind it. */
function isExit(prefix: Prefix): boolean {
  return routeKind({ prefix }) === "exit";
}

function setChangesKey(changes: readonly AddressSetChange[]): string {
  return changes.map(({ set, added, removed }) => `${set}+${added.join()}-${removed.join()}`).join(";");
}

function classKey(delta: MapDelta, baseSequence: bigint): string {
  const upserts = delta.upserts
    .map(
      ({ id, profile, routes }) => `${id}:${profile ? profileKey(profile) : ""}:${routes.some(isExit) ? "exit" : ""}`,
    )
    .join();
  const names = delta.names === undefined ? "" : namesKey(delta.names);
  const filter = delta.filter ? filterKey(delta.filter) : setChangesKey(delta.filterSets ?? []);
  return `${baseSequence}|${upserts}|${delta.removals.join()}|${filter}|${names}`;
}
