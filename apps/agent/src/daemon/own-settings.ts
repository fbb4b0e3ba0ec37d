import { filterAfter } from "@weft/protocol";
import type { MapDelta, MapNames, MapPeer, MapSelf, NetworkMap } from "@weft/protocol";

/** Everything of a map that changes how this host itself sends: addresses, routes, exit node, names. */
export type OwnSettings = {
  readonly self: MapSelf;
  /** Peers with ranges behind them. */
  readonly routers: readonly MapPeer[];
  readonly names: MapNames | null;
};

/** What a map says beside its peers. */
export type MapSettings = Pick<NetworkMap, "self" | "filter" | "names">;

/** The map's settings, and those that are used instead of a part of them. Changes return what counted and what counts. */
export type SettingsInUse = {
  readonly inUse: () => MapSettings | null;
  readonly replace: (map: NetworkMap) => readonly [before: MapSettings | null, now: MapSettings];
  readonly change: (delta: MapDelta) => Moved;
  /** Uses own settings instead of the map's; `null`: the map's again. */
  readonly instead: (own: OwnSettings | null) => Moved;
  /** What the map asks for; the same object as long as nothing of it is another. */
  readonly wanted: () => OwnSettings | null;
  readonly routers: () => readonly MapPeer[];
  readonly clear: () => void;
};

type Moved = readonly [before: MapSettings | null, now: MapSettings | null];

export function createSettingsInUse(routersOfMap: () => readonly MapPeer[]): SettingsInUse {
  let settings: MapSettings | null = null;
  let instead: OwnSettings | null = null;
  let wanted: OwnSettings | null = null;
  const used = (of: MapSettings): MapSettings => (instead ? usedInstead(of, instead) : of);
  const inUse = (): MapSettings | null => settings && used(settings);
  return {
    inUse,
    replace(map) {
      const before = inUse();
      settings = settingsOf(map);
      return [before, used(settings)];
    },
    change(delta) {
      const before = inUse();
      settings &&= settingsAfter(settings, delta);
      return [before, inUse()];
    },
    instead(own) {
      const before = inUse();
      instead = own;
      return [before, inUse()];
    },
    wanted: () => (wanted = settings && ownOf(settings, routersOfMap(), wanted)),
    routers: () => instead?.routers ?? routersOfMap(),
    clear() {
      [settings, instead, wanted] = [null, null, null];
    },
  };
}

function settingsOf({ self, filter, names }: NetworkMap): MapSettings {
  return { self, filter, ...(names && { names }) };
}

function settingsAfter(before: MapSettings, delta: MapDelta): MapSettings {
  const names = delta.names === undefined ? before.names : delta.names;
  return { self: delta.self ?? before.self, filter: filterAfter(before.filter, delta), ...(names && { names }) };
}

function usedInstead({ self, filter }: MapSettings, instead: OwnSettings): MapSettings {
  return { self: selfBefore(instead.self, self), filter, ...(instead.names && { names: instead.names }) };
}

/** `last` itself when nothing of it is another. */
function ownOf({ self, names }: MapSettings, routers: readonly MapPeer[], last: OwnSettings | null): OwnSettings {
  const same =
    last?.self === self &&
    last.names === (names ?? null) &&
    last.routers.length === routers.length &&
    routers.every((router, place) => router === last.routers[place]);
  return same ? last : { self, names: names ?? null, routers };
}

/** Tells whether two of them ask the same of the host. */
export function isSameOwn(one: OwnSettings, other: OwnSettings): boolean {
  return one === other || JSON.stringify(asksOf(one)) === JSON.stringify(asksOf(other));
}

/** The settings of before under the present name; how peers are spoken to is theirs as well, so it never goes back. */
function selfBefore(before: MapSelf, present: MapSelf): MapSelf {
  const { peerId, name, networkId, networkName, profileFallback, conceal } = present;
  const { profileFallback: _fallback, conceal: _conceal, ...rest } = before;
  return {
    ...rest,
    peerId,
    name,
    networkId,
    networkName,
    ...(profileFallback && { profileFallback }),
    ...(conceal && { conceal }),
  };
}

function asksOf({ self, routers, names }: OwnSettings): unknown {
  const { ipv4, ipv6, ipv4Range, ipv6Range, mtu, listenPort, serves, exit } = self;
  const routes = routers.map(({ id, routes: behind }) => [id, behind] as const);
  const own = { ipv4, ipv6, ipv4Range, ipv6Range, mtu, listenPort, serves, exit };
  return [own, routes.toSorted(([left], [right]) => (left < right ? -1 : 1)), names];
}
