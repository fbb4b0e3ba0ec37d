import type { WirePrefix } from "../core/engine-port.ts";
import { viewOf } from "../core/handshake/bytes.ts";

/** What the in-memory engine reads of a packet. */
export type InnerPacket = {
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
  readonly protocol: number;
  /** Of an unfragmented TCP or UDP packet. */
  readonly ports: { readonly source: number; readonly destination: number } | null;
  /** Of an unfragmented ICMP message. */
  readonly icmp: { readonly type: number; readonly code: number; readonly id: number } | null;
};

/** Null for what is no IP packet. */
export function parsePacket(bytes: Uint8Array): InnerPacket | null {
  const version = (bytes[0] ?? 0) >> 4;
  const layout = version === 4 ? IPV4 : version === 6 ? IPV6 : null;
  if (!layout || bytes.length < layout.headerBytes) return null;
  const protocol = bytes[layout.protocolAt] ?? 0;
  const isFragment = version === 4 && (viewOf(bytes).getUint16(FRAGMENT_AT, false) & FRAGMENT_MASK) !== 0;
  const body = isFragment ? null : viewOf(bytes.subarray(layout.headerBytes));
  const hasPorts = (protocol === TCP || protocol === UDP) && body !== null && body.byteLength >= 4;
  const isIcmp = (protocol === ICMP || protocol === ICMPV6) && body !== null && body.byteLength >= 8;
  return {
    source: bytes.subarray(layout.sourceAt, layout.sourceAt + layout.addressBytes),
    destination: bytes.subarray(layout.sourceAt + layout.addressBytes, layout.sourceAt + 2 * layout.addressBytes),
    protocol,
    ports: hasPorts ? { source: body.getUint16(0, false), destination: body.getUint16(2, false) } : null,
    icmp: isIcmp ? { type: body.getUint8(0), code: body.getUint8(1), id: body.getUint16(4, false) } : null,
  };
}

/** Builds a UDP packet, as far as the in-memory engine reads it. */
export function makePacket(
  from: Uint8Array,
  to: Uint8Array,
  udp: { readonly port: number; readonly fromPort?: number; readonly text: string },
): Uint8Array {
  const layout = from.length === 4 ? IPV4 : IPV6;
  const text = new TextEncoder().encode(udp.text);
  const bytes = new Uint8Array(layout.headerBytes + UDP_HEADER_BYTES + text.length);
  bytes[0] = from.length === 4 ? 0x45 : 0x60;
  bytes[layout.protocolAt] = UDP;
  viewOf(bytes).setUint16(layout.lengthAt, bytes.length - layout.bytesNotCounted, false);
  bytes.set(from, layout.sourceAt);
  bytes.set(to, layout.sourceAt + layout.addressBytes);
  viewOf(bytes).setUint16(layout.headerBytes, udp.fromPort ?? 0, false);
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
const ICMP = 1;
const ICMPV6 = 58;
const FRAGMENT_AT = 6;
/** "More fragments" and the offset. */
const FRAGMENT_MASK = 0x3fff;
