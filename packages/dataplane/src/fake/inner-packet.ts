import type { WirePrefix, WireRule } from "../core/engine-port.ts";
import { viewOf } from "../core/handshake/bytes.ts";

/** What the in-memory engine reads of a packet. */
export type InnerPacket = {
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
  readonly protocol: number;
  readonly destinationPort: number | null;
};

/** Null for what is no IP packet. */
export function parsePacket(bytes: Uint8Array): InnerPacket | null {
  const version = (bytes[0] ?? 0) >> 4;
  const layout = version === 4 ? IPV4 : version === 6 ? IPV6 : null;
  if (!layout || bytes.length < layout.headerBytes) return null;
  const protocol = bytes[layout.protocolAt] ?? 0;
  const hasPorts = (protocol === TCP || protocol === UDP) && bytes.length >= layout.headerBytes + 4;
  return {
    source: bytes.subarray(layout.sourceAt, layout.sourceAt + layout.addressBytes),
    destination: bytes.subarray(layout.sourceAt + layout.addressBytes, layout.sourceAt + 2 * layout.addressBytes),
    protocol,
    destinationPort: hasPorts ? viewOf(bytes).getUint16(layout.headerBytes + 2, false) : null,
  };
}

/** Builds a UDP packet, as far as the in-memory engine reads it. */
export function makePacket(
  from: Uint8Array,
  to: Uint8Array,
  udp: { readonly port: number; readonly text: string },
): Uint8Array {
  const layout = from.length === 4 ? IPV4 : IPV6;
  const text = new TextEncoder().encode(udp.text);
  const bytes = new Uint8Array(layout.headerBytes + UDP_HEADER_BYTES + text.length);
  bytes[0] = from.length === 4 ? 0x45 : 0x60;
  bytes[layout.protocolAt] = UDP;
  viewOf(bytes).setUint16(layout.lengthAt, bytes.length - layout.bytesNotCounted, false);
  bytes.set(from, layout.sourceAt);
  bytes.set(to, layout.sourceAt + layout.addressBytes);
  viewOf(bytes).setUint16(layout.headerBytes + 2, udp.port, false);
  bytes.set(text, layout.headerBytes + UDP_HEADER_BYTES);
  return bytes;
}

/** Bytes of the packet by its own header, without what was padded behind it; 0 for what is no packet. */
export function declaredBytes(bytes: Uint8Array): number {
  const version = (bytes[0] ?? 0) >> 4;
  const layout = version === 4 ? IPV4 : version === 6 ? IPV6 : null;
  if (!layout || bytes.length < layout.headerBytes) return 0;
  return viewOf(bytes).getUint16(layout.lengthAt, false) + layout.bytesNotCounted;
}

export function inPrefix(address: Uint8Array, prefix: WirePrefix): boolean {
  if (address.length !== prefix.address.length) return false;
  for (let bit = 0; bit < prefix.length; bit += 1) {
    const mask = 0x80 >> (bit % 8);
    const at = bit >> 3;
    if (((address[at] ?? 0) & mask) !== ((prefix.address[at] ?? 0) & mask)) return false;
  }
  return true;
}

/** First match wins; no match denies. */
export function isAllowed(rules: readonly WireRule[], packet: InnerPacket, direction: "in" | "out"): boolean {
  const match = rules.find(
    (rule) =>
      (rule.direction === "both" || rule.direction === direction) &&
      (rule.protocol === 0 || rule.protocol === packet.protocol) &&
      (!rule.source || inPrefix(packet.source, rule.source)) &&
      (!rule.destination || inPrefix(packet.destination, rule.destination)) &&
      portMatches(rule, packet),
  );
  return match?.action === "allow";
}

function portMatches(rule: WireRule, packet: InnerPacket): boolean {
  if (rule.portLow === 0 && rule.portHigh === 65_535) return true;
  const port = packet.destinationPort;
  return port !== null && port >= rule.portLow && port <= rule.portHigh;
}

const IPV4 = {
  headerBytes: 20,
  lengthAt: 2,
  bytesNotCounted: 0,
  protocolAt: 9,
  sourceAt: 12,
  addressBytes: 4,
} as const;
const IPV6 = {
  headerBytes: 40,
  lengthAt: 4,
  bytesNotCounted: 40,
  protocolAt: 6,
  sourceAt: 8,
  addressBytes: 16,
} as const;
const UDP_HEADER_BYTES = 8;
const TCP = 6;
const UDP = 17;
