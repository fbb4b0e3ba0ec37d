import {
  type Endpoint,
  endpointOf,
  endpointParts,
  ipFromBytes,
  ipToBytes,
  type Prefix,
  prefixParts,
} from "@weft/protocol";
import type { WireEndpoint, WirePrefix } from "./engine-port.ts";

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
