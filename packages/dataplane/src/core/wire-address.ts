import {
  type Endpoint,
  endpointOf,
  endpointParts,
  type FilterRule,
  ipFromBytes,
  ipToBytes,
  type Prefix,
  prefixParts,
} from "@weft/protocol";
import type { WireEndpoint, WirePrefix, WireRule } from "./engine-port.ts";

export function wireEndpoint(endpoint: Endpoint): WireEndpoint {
  const { address, port } = endpointParts(endpoint);
  return { address: ipToBytes(address), port };
}

/** Null when the engine reports something no datagram can come from, such as port 0. */
export function endpointFromWire(wire: WireEndpoint): Endpoint | null {
  const address = ipFromBytes(wire.address);
  if (!address.ok) return null;
  const endpoint = endpointOf(address.value, wire.port);
  return endpoint.ok ? endpoint.value : null;
}

export function wirePrefix(prefix: Prefix): WirePrefix {
  const { address, length } = prefixParts(prefix);
  return { address: ipToBytes(address), length };
}

/** Null for a rule whose source and destination are of different families: no packet can match it. */
export function wireRule(rule: FilterRule): WireRule | null {
  const source = rule.source && wirePrefix(rule.source);
  const destination = rule.destination && wirePrefix(rule.destination);
  if (source && destination && source.address.length !== destination.address.length) return null;
  return {
    id: rule.id,
    action: rule.action,
    direction: rule.direction,
    protocol: rule.protocol ?? 0,
    source,
    destination,
    portLow: rule.ports?.low ?? 0,
    portHigh: rule.ports?.high ?? PORT_MAX,
  };
}

const PORT_MAX = 65_535;
