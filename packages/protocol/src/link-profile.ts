import { err, ok, type Result } from "./result.ts";

/** What seals packets: WireGuard's own cipher, or one that is faster with instructions for it. */
export type LinkCipher = "chacha20-poly1305" | "aes-256-gcm";

/** What two agents do beyond plain WireGuard. Both ends get the same one in their maps; no profile = plain WireGuard. */
export type LinkProfile = {
  /** Revision of the network's policy that the profile was made under; 32 bits. */
  readonly revision: number;
  readonly cipher: LinkCipher;
  /** Inner TCP and UDP checksums are left to the tunnel. */
  readonly elision: "on" | "off";
  /** UDP source ports per direction, 1 to 64. */
  readonly lanes: number;
};

/** What an initiator does that cannot reach a peer under their profile. */
export type ProfileFallback = "plain" | "refuse";

export type LinkProfileError = { readonly code: "bad_profile"; readonly detail: string };

/** The one form of a profile in bytes: in maps, and under the hash that binds it into handshakes. */
export function linkProfileToBytes(profile: LinkProfile): Uint8Array {
  const bytes = new Uint8Array(LINK_PROFILE_BYTES);
  bytes.set([FORM, CIPHERS.indexOf(profile.cipher), profile.elision === "on" ? 1 : 0, profile.lanes]);
  new DataView(bytes.buffer).setUint32(4, profile.revision);
  return bytes;
}

/** Reads a profile; a form, cipher or flag of a later version is an error: half a profile is none. */
export function linkProfileFromBytes(bytes: Uint8Array): Result<LinkProfile, LinkProfileError> {
  if (bytes.length !== LINK_PROFILE_BYTES) return bad(`${bytes.length} bytes instead of ${LINK_PROFILE_BYTES}`);
  const [form = 0, cipherNumber = 0, flags = 0, lanes = 0] = bytes;
  const cipher = CIPHERS[cipherNumber];
  if (form !== FORM) return bad(`form ${form} is not known`);
  if (!cipher) return bad(`cipher ${cipherNumber} is not known`);
  if (flags > 1) return bad(`flags ${flags} are not known`);
  if (lanes < 1 || lanes > LANES_MAX) return bad(`${lanes} lanes`);
  const revision = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(4);
  return ok({ revision, cipher, elision: flags === 1 ? "on" : "off", lanes });
}

/** Says whether two peers may go on as they are; none equals none only. */
export function isSameProfile(left: LinkProfile | null, right: LinkProfile | null): boolean {
  if (left === null || right === null) return left === right;
  return (
    left.revision === right.revision &&
    left.cipher === right.cipher &&
    left.elision === right.elision &&
    left.lanes === right.lanes
  );
}

function bad(detail: string): Result<never, LinkProfileError> {
  return err({ code: "bad_profile", detail });
}

/** What an agent announces in its hello when it can and wants to do it. */
export const CAPABILITY = {
  aes256Gcm: "cipher.aes-256-gcm",
  elision: "elide",
  /** Takes a conceal profile from its map. */
  conceal: "conceal",
  /** Takes changes of address sets instead of the whole filter. */
  filterSetChanges: "filter-sets.change",
} as const;

/** What an agent announces that can use so many lanes, 2 to 8. */
export function laneCapability(lanes: number): string {
  return `${LANE_WORD}${lanes}`;
}

/** How many lanes are announced; 1 = none beside the port that every peer has. Words of later versions count for nothing. */
export function lanesAnnounced(capabilities: readonly string[]): number {
  const counts = capabilities
    .filter((word) => word.startsWith(LANE_WORD))
    .map((word) => word.slice(LANE_WORD.length))
    .filter((text) => /^[2-8]$/.test(text));
  return Math.max(1, ...counts.map(Number));
}

/** More lanes than this are announced by nobody. */
export const LANES_OFFERED_MAX = 8;
const LANE_WORD = "lanes.";

export const LINK_PROFILE_BYTES = 8;
/** More lanes than this are never used. */
export const LANES_MAX = 64;
/** First byte: how the others are to be read. */
const FORM = 1;
const CIPHERS: readonly LinkCipher[] = ["chacha20-poly1305", "aes-256-gcm"];
