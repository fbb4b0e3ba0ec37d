import { CAPABILITY, lanesAnnounced, type LinkProfile } from "@weft/protocol";

/**
 * What two nodes do with each other beyond plain WireGuard, from what both announced; `undefined` = nothing. It does not
 * depend on the order, so both maps say the same.
 */
export function linkProfileOf(left: readonly string[], right: readonly string[]): LinkProfile | undefined {
  const both = (capability: string) => left.includes(capability) && right.includes(capability);
  const hasAes = both(CAPABILITY.aes256Gcm);
  const hasElision = both(CAPABILITY.elision);
  const lanes = Math.min(lanesAnnounced(left), lanesAnnounced(right));
  if (!hasAes && !hasElision && lanes === 1) return undefined;
  return {
    revision: RULE_REVISION,
    cipher: hasAes ? "aes-256-gcm" : "chacha20-poly1305",
    elision: hasElision ? "on" : "off",
    lanes,
  };
}

/** Capabilities as they are stored: sorted, each once, so that the same set is equal. */
export function storedCapabilities(announced: readonly string[]): readonly string[] {
  return [...new Set(announced)].toSorted();
}

/** Rises when this rule changes what the same capabilities lead to. */
const RULE_REVISION = 1;
