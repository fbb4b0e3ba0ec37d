import type { Secret } from "../secret.ts";

/** Whole numbers from `low` to `high`, both included. */
export type ConcealRange = { readonly low: number; readonly high: number };

/**
 * How a device disguises its datagrams; the fields are the keys of AmneziaWG. Made by `setConcealKeys`, which checks every
 * rule; a value that was not made there means nothing.
 */
export type ConcealProfile = {
  /** Junk datagrams before each initiation, and their least and most bytes (0 = not set). */
  readonly jc: number;
  readonly jmin: number;
  readonly jmax: number;
  /** Random bytes before initiation, response, cookie reply and transport message. */
  readonly s1: number;
  readonly s2: number;
  readonly s3: number;
  readonly s4: number;
  /** What stands for the types 1 to 4. */
  readonly h1: ConcealRange;
  readonly h2: ConcealRange;
  readonly h3: ConcealRange;
  readonly h4: ConcealRange;
  /** Signature packets before each initiation, as tags; empty = none. */
  readonly i1: string;
  readonly i2: string;
  readonly i3: string;
  readonly i4: string;
  readonly i5: string;
  /** 32 bytes that hide headers; null = off. */
  readonly headerProtectionKey: Secret<Uint8Array> | null;
  /** Zero bytes behind each packet inside the encryption; 0-0 = off. */
  readonly contentPaddingAddition: ConcealRange;
  /** Seconds; 0-0 = WireGuard's own. */
  readonly rekeyAfterTime: ConcealRange;
  readonly rekeyTimeout: ConcealRange;
  readonly rejectAfterTime: ConcealRange;
  readonly keepaliveTimeout: ConcealRange;
  readonly maxHandshakeAttempts: ConcealRange;
  /** Random bytes behind handshake messages. */
  readonly randomTrailers: "on" | "off";
  /** Under load only the rate of a source counts. */
  readonly disableCookies: "on" | "off";
};

/** Every key at its default: the bytes are those of plain WireGuard. */
export const PLAIN_CONCEAL: ConcealProfile = {
  jc: 0,
  jmin: 0,
  jmax: 0,
  s1: 0,
  s2: 0,
  s3: 0,
  s4: 0,
  h1: { low: 1, high: 1 },
  h2: { low: 2, high: 2 },
  h3: { low: 3, high: 3 },
  h4: { low: 4, high: 4 },
  i1: "",
  i2: "",
  i3: "",
  i4: "",
  i5: "",
  headerProtectionKey: null,
  contentPaddingAddition: { low: 0, high: 0 },
  rekeyAfterTime: { low: 0, high: 0 },
  rekeyTimeout: { low: 0, high: 0 },
  rejectAfterTime: { low: 0, high: 0 },
  keepaliveTimeout: { low: 0, high: 0 },
  maxHandshakeAttempts: { low: 0, high: 0 },
  randomTrailers: "off",
  disableCookies: "off",
};

/** The four message kinds with their sizes, in the order of `s1`…`s4` and `h1`…`h4`. */
export const CONCEAL_KINDS = [
  { kind: "initiation", padding: "s1", types: "h1", bytes: 148 },
  { kind: "response", padding: "s2", types: "h2", bytes: 92 },
  { kind: "cookie-reply", padding: "s3", types: "h3", bytes: 64 },
  { kind: "transport", padding: "s4", types: "h4", bytes: 32 },
] as const;

/** The five slots of signature packets. */
export const CONCEAL_SIGNATURES = ["i1", "i2", "i3", "i4", "i5"] as const;

/** The most one UDP datagram carries over IPv4. */
export const DATAGRAM_BYTES_MAX = 65_507;

/** Longest inner packet on a path of this MTU: IP header, UDP header, padding, WireGuard header and tag are around it. */
export function concealInnerMtu(
  profile: ConcealProfile,
  path: { readonly mtu: number; readonly family: 4 | 6 },
): number {
  return path.mtu - (path.family === 4 ? 20 : 40) - 8 - profile.s4 - 32;
}
