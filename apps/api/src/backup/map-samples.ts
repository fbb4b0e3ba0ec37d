import { createHash } from "node:crypto";
import type { Executor } from "../db/client.ts";
import { readNetwork } from "../db/changes-repository.ts";
import { allNetworks } from "../db/networks-repository.ts";
import { createMapEncoder } from "../live/map-encoder.ts";
import { createNetworkMirror } from "../live/network-mirror.ts";
import { identityOf } from "../live/server-identity.ts";
import type { MapSample } from "./backup-format.ts";

/**
 * The map of one node of each network, signed, as the server would send it: equal samples mean that agents get what they
 * got before, under the key that they pin.
 */
export async function mapSamples(tx: Executor, serverPrivateKey: string): Promise<readonly MapSample[]> {
  const encoder = createMapEncoder({ identity: identityOf(serverPrivateKey), clock: { nowMs: () => 0 } });
  const samples: MapSample[] = [];
  for (const { id } of await allNetworks(tx)) {
    const contents = await readNetwork(tx, id);
    const active = contents?.peers.filter(({ state }) => state === "active").map((peer) => peer.id) ?? [];
    const peerId = active.toSorted().at(0);
    if (!contents || peerId === undefined) continue;
    // The order of rows in a table is nobody's promise.
    const peers = contents.peers.toSorted((left, right) => (left.id < right.id ? -1 : 1));
    const frames = encoder.snapshot(createNetworkMirror({ ...contents, peers }, 0), peerId) ?? [];
    const hash = createHash("sha256");
    for (const frame of frames) hash.update(frame);
    samples.push({ networkId: id, peerId, sha256: hash.digest("hex") });
  }
  return samples.toSorted((left, right) => (left.networkId < right.networkId ? -1 : 1));
}
