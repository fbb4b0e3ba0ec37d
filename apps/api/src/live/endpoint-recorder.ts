import type { NetworkId, PeerId } from "@weft/protocol";
import { ok } from "@weft/protocol";
import type { Executor } from "../db/client.ts";
import { lockNetwork, publishChanges } from "../db/networks-repository.ts";
import { storeEndpoints } from "../db/peers-repository.ts";
import { transact } from "../db/transact.ts";
import type { PeerEndpoint } from "../domain/peer.ts";
import type { WallClock } from "../registry/feature-deps.ts";

/** Stores endpoints that nodes report, many in one transaction. */
export type EndpointRecorder = {
  readonly note: (networkId: NetworkId, peerId: PeerId, endpoints: readonly PeerEndpoint[]) => void;
  /** Writes what is waiting. */
  readonly flush: () => Promise<void>;
};

export function createEndpointRecorder(deps: {
  readonly db: Executor;
  readonly clock: WallClock;
  readonly onError: (error: unknown) => void;
}): EndpointRecorder {
  let waiting = new Map<NetworkId, Map<PeerId, readonly PeerEndpoint[]>>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    const taken = waiting;
    waiting = new Map();
    for (const [networkId, reports] of taken) {
      await store(deps, networkId, reports).catch(deps.onError);
    }
  };
  return {
    note(networkId, peerId, endpoints) {
      const reports = waiting.get(networkId) ?? new Map<PeerId, readonly PeerEndpoint[]>();
      waiting.set(networkId, reports.set(peerId, endpoints));
      timer ??= setTimeout(() => void flush(), GATHER_MS);
    },
    flush,
  };
}

async function store(
  deps: { readonly db: Executor; readonly clock: WallClock },
  networkId: NetworkId,
  reports: ReadonlyMap<PeerId, readonly PeerEndpoint[]>,
): Promise<void> {
  await transact(deps.db, async (tx) => {
    if (!(await lockNetwork(tx, networkId))) return ok(undefined);
    await storeEndpoints(
      tx,
      [...reports].map(([peerId, endpoints]) => ({ peerId, endpoints })),
    );
    const changes = [...reports.keys()].map((peerId) => ({ kind: "peer", peerId }) as const);
    await publishChanges(tx, networkId, { changes, at: new Date(deps.clock.nowMs()) });
    return ok(undefined);
  });
}

/** Reports of many nodes that come back at once travel together. */
const GATHER_MS = 30;
