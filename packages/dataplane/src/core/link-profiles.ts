import { isSameProfile, type LinkProfile, linkProfileToBytes, type ProfileFallback } from "@weft/protocol";
import { asciiBytes } from "./handshake/bytes.ts";
import type { Primitives } from "./handshake/primitives.ts";
import type { TunnelPeer } from "../tunnel.ts";

/** A profile and what stands for it in handshakes; both null = plain WireGuard. */
export type BoundProfile = { readonly profile: LinkProfile | null; readonly identifier: Uint8Array | null };

/** The profiles one peer may be talked to under. */
export type PeerProfiles = {
  /** What the map says. */
  readonly wanted: BoundProfile;
  /** What the map said before, until a session under the wanted one works: the other end may not have its map yet. */
  readonly previous: BoundProfile | null;
  readonly fallback: ProfileFallback;
};

/** How the profile of a peer stands, as shown to others. */
export type ProfileState = "plain" | "pending" | "active" | "changing" | "fallback";

export const PLAIN: BoundProfile = { profile: null, identifier: null };

export function bindProfile(primitives: Primitives, profile: LinkProfile | null | undefined): BoundProfile {
  if (!profile) return PLAIN;
  return { profile, identifier: primitives.hash(LABEL, linkProfileToBytes(profile)) };
}

/** How a peer begins that was not known before: what its map says, and what it said before that. */
export function startingProfiles(
  primitives: Primitives,
  desired: Pick<TunnelPeer, "profile" | "profileBefore" | "profileFallback">,
): PeerProfiles {
  const { profile, profileBefore, profileFallback } = desired;
  const previous = profileBefore === "plain" ? PLAIN : profileBefore && bindProfile(primitives, profileBefore);
  return {
    wanted: bindProfile(primitives, profile),
    previous: previous && !isSameProfile(previous.profile, profile ?? null) ? previous : null,
    fallback: profileFallback ?? "refuse",
  };
}

/** The map names another profile or another policy. */
export function withWanted(
  profiles: PeerProfiles,
  wanted: BoundProfile,
  fallback: ProfileFallback | undefined,
): PeerProfiles {
  const isSame = isSameProfile(profiles.wanted.profile, wanted.profile);
  return {
    wanted: isSame ? profiles.wanted : wanted,
    previous: isSame ? profiles.previous : profiles.wanted,
    fallback: fallback ?? "refuse",
  };
}

/** A session under a profile works; under the wanted one, so the other end has it too and the previous one is over. */
export function withWorking(profiles: PeerProfiles, working: LinkProfile | null): PeerProfiles {
  return isSameProfile(profiles.wanted.profile, working) ? { ...profiles, previous: null } : profiles;
}

/** What an initiation may be made under, likeliest first: at most three, each without a key agreement of its own. */
export function acceptable(profiles: PeerProfiles): readonly BoundProfile[] {
  const { wanted, previous, fallback } = profiles;
  const found = previous ? [wanted, previous] : [wanted];
  return fallback === "plain" && found.every(({ profile }) => profile !== null) ? [...found, PLAIN] : found;
}

/**
 * What the next initiation is made under. Never the previous profile, and plain WireGuard only where the policy says so:
 * whoever drops our messages must not choose for us.
 */
export function profileOfAttempt(profiles: PeerProfiles, attempt: number): BoundProfile {
  const mayBePlain = profiles.fallback === "plain" && attempt > ATTEMPTS_BEFORE_PLAIN;
  return mayBePlain && (attempt - ATTEMPTS_BEFORE_PLAIN) % 2 === 1 ? PLAIN : profiles.wanted;
}

/** `used` is the profile of the session that is sent under; undefined without one. */
export function profileState(profiles: PeerProfiles, used: LinkProfile | null | undefined): ProfileState {
  const { profile } = profiles.wanted;
  if (used === undefined) return profile === null ? "plain" : "pending";
  if (isSameProfile(profile, used)) return profile === null ? "plain" : "active";
  return profiles.previous && isSameProfile(profiles.previous.profile, used) ? "changing" : "fallback";
}

const LABEL = asciiBytes("weft link profile 1\0");
/** After so many unanswered initiations every second one is plain, if the policy allows it. */
export const ATTEMPTS_BEFORE_PLAIN = 3;
