import {
  endpointOf,
  familyOf,
  parsePrefix,
  parseIp,
  prefixContains,
  type Endpoint,
  type IpAddress,
  type Prefix,
} from "@weft/protocol";

import type { MapSync } from "./map-sync.ts";
import { networkRanges } from "./map-to-tunnel.ts";

/** An interface as the system reports it. */
export type HostInterface = { readonly name: string; readonly up: boolean; readonly addresses: readonly string[] };

/**
 * Addresses at which this node may be reached, best first: those of interfaces that are up, without loopback, without the
 * node's own networks. Link-local IPv6 is named only when there is nothing else.
 */
export function candidateEndpoints(
  interfaces: readonly HostInterface[],
  port: number,
  own: { readonly interfaceName: string; readonly ranges: readonly Prefix[] },
): Endpoint[] {
  const addresses = interfaces
    .filter((link) => link.up && link.name !== own.interfaceName)
    .flatMap((link) => link.addresses)
    .flatMap((text): IpAddress[] => {
      const address = parseIp(text.split("/")[0] ?? "");
      return address.ok ? [address.value] : [];
    })
    .filter((address) => !LOOPBACK.some((range) => prefixContains(range, address)))
    .filter((address) => !own.ranges.some((range) => prefixContains(range, address)));
  const routable = addresses.filter((address) => !LINK_LOCAL.some((range) => prefixContains(range, address)));
  const usable = routable.length > 0 ? routable : addresses;
  return [...new Set(usable)]
    .sort((a, b) => familyOf(a) - familyOf(b))
    .flatMap((address) => {
      const endpoint = endpointOf(address, port);
      return endpoint.ok ? [endpoint.value] : [];
    });
}

/** Where this node may be reached, as its map and its host say. */
export function ownEndpoints(sync: MapSync, interfaces: readonly HostInterface[]): Endpoint[] {
  const tunnel = sync.tunnel();
  const self = sync.self();
  if (!tunnel || !self) return [];
  return candidateEndpoints(interfaces, tunnel.listenPort, {
    interfaceName: tunnel.interfaceName,
    ranges: networkRanges(self),
  });
}

function known(text: string): Prefix {
  const prefix = parsePrefix(text);
  if (!prefix.ok) throw new Error(`${text} is a prefix`);
  return prefix.value;
}

const LOOPBACK = ["127.0.0.0/8", "::1/128", "0.0.0.0/8", "::/128"].map(known);
const LINK_LOCAL = ["fe80::/10", "169.254.0.0/16"].map(known);
