import { CONCEAL_KINDS, type ConcealProfile, type ConcealRange } from "@weft/protocol";
import { viewOf } from "../core/handshake/bytes.ts";
import { drawFrom } from "../core/message-types.ts";

type Kind = (typeof CONCEAL_KINDS)[number];

/**
 * Types and paddings of a profile, so that the core meets messages as the real engine hands them over. Junk, signatures,
 * trailers and header protection are the business of the real engine alone.
 */
export function disguise(message: Uint8Array, profile: ConcealProfile): Uint8Array {
  const kind = CONCEAL_KINDS.find(
    ({ bytes, types }) => bytes === message.length && hasType(message, 0, profile[types]),
  );
  const isTransport = !kind || kind.kind === "transport";
  const padding = isTransport ? profile.s4 : profile[kind.padding];
  const datagram = new Uint8Array(padding + message.length);
  datagram.set(message, padding);
  if (isTransport)
    viewOf(datagram).setUint32(
      padding,
      drawFrom(profile.h4, () => new Uint8Array(4)),
      true,
    );
  return datagram;
}

/** Which message a datagram holds; the type of transport messages is WireGuard's own again. */
export function reveal(
  datagram: Uint8Array,
  profile: ConcealProfile,
): { readonly kind: Kind["kind"]; readonly message: Uint8Array } | null {
  for (const { kind, padding, types, bytes } of CONCEAL_KINDS) {
    const at = profile[padding];
    const fits = kind === "transport" ? datagram.length >= at + bytes : datagram.length === at + bytes;
    if (!fits || !hasType(datagram, at, profile[types])) continue;
    const message = datagram.slice(at);
    if (kind === "transport") viewOf(message).setUint32(0, TRANSPORT_TYPE, true);
    return { kind, message };
  }
  return null;
}

function hasType(bytes: Uint8Array, at: number, { low, high }: ConcealRange): boolean {
  const type = viewOf(bytes).getUint32(at, true);
  return low <= type && type <= high;
}

const TRANSPORT_TYPE = 4;
