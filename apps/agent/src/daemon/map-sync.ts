import type { ResumePoint, Tunnel, TunnelError, TunnelPeer, TunnelSelf } from "@weft/dataplane";
import {
  err,
  ok,
  type ApplyError,
  type MapConceal,
  type MapDelta,
  type MapPeer,
  type MapSelf,
  type NetworkMap,
  type PublicKey,
  type Result,
} from "@weft/protocol";

import type { MtuPolicy } from "../settings/interface-mtu.ts";
import { concealOf, isTunnelled, tunnelPeer, tunnelSelf } from "./map-to-tunnel.ts";
import { createSettingsInUse, type MapSettings, type OwnSettings } from "./own-settings.ts";
import { createPeerIndex, type PeerIndex } from "./peer-index.ts";
import { createProfileMemory, type ProfileMemory } from "./profile-memory.ts";

/** Makes the tunnel for the node's own settings. */
export type MakeTunnel = (self: TunnelSelf, map: MapSelf) => Result<Tunnel, TunnelError>;

export type MapSyncParts = {
  /** What a host's own settings say about the MTU. */
  readonly policy: MtuPolicy;
  readonly profiles: ProfileMemory;
  /** Who says how datagrams are disguised. */
  readonly conceal: "map" | "host";
};

/** Keeps the tunnel equal to the newest map. */
export type MapSync = {
  /** Makes the tunnel at the first map; later calls change what differs. Returns what could not be applied. */
  readonly applyMap: (map: NetworkMap) => readonly ApplyError[];
  /** Applies a change at the cost of the change. */
  readonly applyChange: (delta: MapDelta) => readonly ApplyError[];
  /** Sets addresses and routes again that somebody took from the interface; sessions go on. */
  readonly restoreInterface: () => readonly ApplyError[];
  /** Uses these own settings instead of the map's, until told otherwise (`null`); peers and filter stay the map's. */
  readonly useOwn: (own: OwnSettings | null) => readonly ApplyError[];
  /** The own settings that the map asks for, in use or not; the same object as long as they are the same. */
  readonly wanted: () => OwnSettings | null;
  /** The node's own settings, as they are in use. */
  readonly self: () => MapSelf | null;
  /** The whole map as it is in use; put together when asked for after a change. */
  readonly map: () => NetworkMap | null;
  readonly tunnel: () => Tunnel | null;
  readonly peerByKey: (key: PublicKey) => MapPeer | null;
  /** Static clients for which this node is the gateway. */
  readonly ownClients: () => readonly MapPeer[];
  /** Peers with networks behind them. */
  readonly routers: () => readonly MapPeer[];
  /** Removes the tunnel and remembers which peers had sessions and where; the map stays. */
  readonly takeDown: () => void;
  /**
   * Makes the tunnel anew, after it was taken down or when it could not be made before; handshakes with peers that had
   * sessions start at once.
   */
  readonly rebuild: () => readonly ApplyError[];
  /** How many tunnels were made so far. */
  readonly tunnelsMade: () => number;
  /** Removes the tunnel and forgets the map; what is remembered of its peers' link profiles is for the next run. */
  readonly close: () => void;
};

export function createMapSync(makeTunnel: MakeTunnel, own: Partial<MapSyncParts> = {}): MapSync {
  const { policy = {}, profiles = createProfileMemory(), conceal = "host" } = own;
  let wholeMap: NetworkMap | null = null;
  let tunnel: Tunnel | null = null;
  let tunnelsMade = 0;
  let resume: ResumePoint[] = [];
  const peers = createPeerIndex();
  const index = remembering(peers, profiles);
  /** Own settings and filter; the peers are in the index, so that a change costs what it changes. */
  const settings = createSettingsInUse(index.routers);
  const selfOf = (self: MapSelf): TunnelSelf => tunnelSelf(self, policy);
  const disguise = (before: MapSelf | null, next: MapSelf): ApplyError[] =>
    tunnel && conceal === "map" ? changeConceal(tunnel, before, next) : [];
  const moveSelf = (before: MapSelf, next: MapSelf): ApplyError[] =>
    tunnel ? [...problems("self", changeSelf(tunnel, selfOf(before), selfOf(next))), ...disguise(before, next)] : [];

  const currentMap = (): NetworkMap | null => (wholeMap ??= mapOf(settings.inUse(), index));
  /** Makes the tunnel for the present map, empty as it is new, then fills it. */
  const build = (): ApplyError[] => {
    const map = currentMap();
    if (!map) return [];
    const made = makeTunnel(selfOf(map.self), map.self);
    if (!made.ok) return [{ object: "tunnel", detail: made.error.message }];
    tunnel = made.value;
    tunnelsMade += 1;
    const filled = [...disguise(null, map.self), ...fill(tunnel, map, { self: map.self, index, profiles })];
    return [...filled, ...problems("sessions", tunnel.resumePeers(resume.splice(0)))];
  };
  const takeDown = (): void => {
    if (!tunnel) return;
    resume = resumePoints(tunnel);
    tunnel.close();
    tunnel = null;
  };

  return {
    applyMap(next) {
      const [before, { self }] = settings.replace(next);
      wholeMap = null;
      index.replace(next.peers);
      if (!tunnel || !before) return build();
      return [...moveSelf(before.self, self), ...fill(tunnel, next, { self, index, profiles })];
    },
    applyChange(delta) {
      const [before, now] = settings.change(delta);
      if (!before || !now) return [{ object: "map", detail: "a change came before the first map" }];
      wholeMap = null;
      const [known, gone] = [knownOf(delta, index), index.change(delta)];
      if (!tunnel) return build();
      const context = { self: now.self, before: before.self, index, profiles };
      const { upserts, removals } = tunnelChanges(delta.upserts, { ...context, known, gone });
      return [
        ...(delta.self ? moveSelf(before.self, now.self) : []),
        ...(now.filter === before.filter ? [] : problems("filter", tunnel.replaceFilter(now.filter))),
        ...(upserts.length + removals.length > 0 ? problems("peers", tunnel.changePeers({ upserts, removals })) : []),
      ];
    },
    takeDown,
    rebuild() {
      takeDown();
      return build();
    },
    tunnelsMade: () => tunnelsMade,
    restoreInterface: () => (tunnel ? restoreSelf(tunnel, settings.inUse(), selfOf) : []),
    useOwn(own) {
      const [before, now] = settings.instead(own);
      wholeMap = null;
      return before && now ? moveSelf(before.self, now.self) : [];
    },
    wanted: settings.wanted,
    self: () => settings.inUse()?.self ?? null,
    map: currentMap,
    tunnel: () => tunnel,
    peerByKey: index.byKey,
    ownClients: () => clientsOf(settings.inUse(), index),
    routers: settings.routers,
    close() {
      tunnel?.close();
      [tunnel, resume, wholeMap] = [null, [], null];
      settings.clear();
      peers.replace([]);
    },
  };
}

/** A new disguise counts from the next datagram on; sessions stay. */
function changeConceal(tunnel: Tunnel, before: MapSelf | null, next: MapSelf): ApplyError[] {
  if (isSameConceal(before?.conceal, next.conceal)) return [];
  const wanted = concealOf(next);
  if (wanted || !next.conceal) return problems("conceal", tunnel.replaceConceal(wanted));
  const detail = `version ${next.conceal.version} of the profile means nothing to this agent; update it`;
  return [{ object: "conceal", detail }];
}

function isSameConceal(left: MapConceal | undefined, right: MapConceal | undefined): boolean {
  return left?.profileId === right?.profileId && left?.version === right?.version;
}

/** Peers with a session or a try at one: somebody waits for them. */
function resumePoints(tunnel: Tunnel): ResumePoint[] {
  const wanted = tunnel.peers().filter(({ session }) => session.state !== "none");
  return wanted.map(({ publicKey, endpoint }) => ({ publicKey, endpoint }));
}

/** Static clients behind the node itself. */
function clientsOf(settings: MapSettings | null, index: PeerIndex): readonly MapPeer[] {
  return settings ? index.clientsOf(settings.self.peerId) : [];
}

/** What the map had until now of the peers that a change is about. */
function knownOf({ removals, upserts }: Pick<MapDelta, "removals" | "upserts">, index: PeerIndex): readonly MapPeer[] {
  return [...removals, ...upserts.map(({ id }) => id)].flatMap((id) => index.byId(id) ?? []);
}

function mapOf(settings: MapSettings | null, index: PeerIndex): NetworkMap | null {
  return settings && { ...settings, peers: index.all() };
}

/** What the index said of a peer's link profile before each change is remembered. */
function remembering(index: PeerIndex, profiles: ProfileMemory): PeerIndex {
  return {
    ...index,
    replace(peers) {
      profiles.note(peers, index.byKey);
      index.replace(peers);
      profiles.keepOnly(index.byKey);
    },
    change(delta) {
      profiles.note(delta.upserts, index.byKey);
      const gone = index.change(delta);
      profiles.drop(gone);
      return gone;
    },
  };
}

type PeerContext = { readonly self: MapSelf; readonly index: PeerIndex; readonly profiles: ProfileMemory };

function tunnelPeers(peers: readonly MapPeer[], { self, index, profiles }: PeerContext): readonly TunnelPeer[] {
  return peers
    .filter((peer) => isTunnelled(peer, self))
    .map((peer) => {
      const clients = index.clientsOf(peer.id);
      return tunnelPeer(peer, self, { profileBefore: profiles.before(peer.publicKey), clients });
    });
}

/** What a change means for the tunnel: static clients of others stand in the allowed addresses of their gateways. */
function tunnelChanges(
  upserts: readonly MapPeer[],
  {
    known,
    gone,
    before,
    ...context
  }: PeerContext & {
    readonly known: readonly MapPeer[];
    readonly gone: readonly PublicKey[];
    readonly before: MapSelf;
  },
) {
  const { self, index } = context;
  // The policy for profiles stands in every peer of the tunnel.
  const changed = self.profileFallback === before.profileFallback ? upserts : index.all();
  const touched = new Map(changed.map((peer) => [peer.id, peer]));
  for (const { gateway } of [...known, ...upserts]) {
    const peer = gateway ? index.byId(gateway) : null;
    if (peer) touched.set(peer.id, peer);
  }
  const unreached = upserts.filter((peer) => !isTunnelled(peer, self)).map(({ publicKey }) => publicKey);
  return { upserts: tunnelPeers([...touched.values()], context), removals: [...gone, ...unreached] };
}

function fill(tunnel: Tunnel, map: NetworkMap, context: PeerContext): ApplyError[] {
  return [
    ...problems("filter", tunnel.replaceFilter(map.filter)),
    ...problems("peers", tunnel.replacePeers(tunnelPeers(map.peers, context))),
  ];
}

/** The tunnel believes that all is set: taking it back first makes it set everything again. */
function setSelfAgain(tunnel: Tunnel, wanted: TunnelSelf): Result<void, TunnelError> {
  tunnel.replaceSelf({ ...wanted, addresses: [], routes: [] });
  return tunnel.replaceSelf(wanted);
}

function restoreSelf(
  tunnel: Tunnel,
  used: MapSettings | null,
  selfOf: (self: MapSelf) => TunnelSelf,
): readonly ApplyError[] {
  return used ? problems("self", setSelfAgain(tunnel, selfOf(used.self))) : [];
}

/** Re-addresses where something differs; a refused change leaves the old settings (AP-51). */
function changeSelf(tunnel: Tunnel, old: TunnelSelf, wanted: TunnelSelf): Result<void, TunnelError> {
  if (JSON.stringify(old) === JSON.stringify(wanted)) return ok(undefined);
  const changed = tunnel.replaceSelf(wanted);
  if (changed.ok) return changed;
  const restored = tunnel.replaceSelf(old);
  const state = restored.ok
    ? "the old settings stay"
    : `and the old settings did not come back: ${restored.error.message}`;
  return err({ ...changed.error, message: `${changed.error.message}; ${state}` });
}

function problems(object: string, result: Result<void, TunnelError>): ApplyError[] {
  return result.ok ? [] : [{ object, detail: result.error.message.slice(0, 500) }];
}
