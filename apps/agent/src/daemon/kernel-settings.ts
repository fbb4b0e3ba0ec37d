import type { RoadHost } from "../os/road-host.linux.ts";
import type { RoadState } from "./road-state.ts";

/** A kernel setting and its value. */
export type Setting = readonly [path: string, value: string];

/** What has to be written so that packets are forwarded and marks count; nothing for what is so already. */
export function settingsToWrite(
  host: RoadHost,
  { forwarding, withoutRedirects, markedSources }: RoadState,
): readonly Setting[] {
  const wanted: Setting[] = [
    ...(forwarding.includes(4) ? [["net/ipv4/ip_forward", "1"] as const] : []),
    ...(forwarding.includes(6) ? [...keptAdvertisements(host), ["net/ipv6/conf/all/forwarding", "1"] as const] : []),
    // The kernel sends them when either says so; other interfaces have a word of their own.
    ...(withoutRedirects === null ? [] : ["all", withoutRedirects]).map(
      (place) => [`net/ipv4/conf/${place}/send_redirects`, "0"] as const,
    ),
    ...(markedSources === "counted" ? [["net/ipv4/conf/all/src_valid_mark", "1"] as const] : []),
  ];
  return wanted.filter(([path, value]) => host.readSetting(path) !== value);
}

/** The present values of settings, in the order in which they have to be put back. */
export function valuesBefore(host: RoadHost, settings: readonly Setting[]): readonly Setting[] {
  return settings.toReversed().flatMap(([path]): Setting[] => {
    const value = host.readSetting(path);
    if (value === null) return [];
    // Writing it for all interfaces writes it for each of them.
    const each = path === ALL_FORWARDING ? interfaceSettings(host, "forwarding") : [];
    return [[path, value], ...each.filter(([, own]) => own !== value)];
  });
}

/** A host that forwards stops listening to its routers, unless it is told to go on (2). */
function keptAdvertisements(host: RoadHost): Setting[] {
  if (host.readSetting(ALL_FORWARDING) === "1") return [];
  return interfaceSettings(host, "accept_ra").flatMap(([path, value]): Setting[] =>
    value === "1" ? [[path, "2"]] : [],
  );
}

function interfaceSettings(host: RoadHost, name: string): Setting[] {
  return host.listSettings("net/ipv6/conf").flatMap((folder): Setting[] => {
    const path = `net/ipv6/conf/${folder}/${name}`;
    const value = folder === "all" ? null : host.readSetting(path);
    return value === null ? [] : [[path, value]];
  });
}

const ALL_FORWARDING = "net/ipv6/conf/all/forwarding";
