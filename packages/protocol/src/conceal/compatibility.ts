import { toHex } from "../bytes.ts";
import { CONCEAL_KINDS, type ConcealProfile } from "./profile.ts";
import { formatConcealRange } from "./rules.ts";

/**
 * What two ends must have in common: paddings, types, header key, and whether handshake messages have trailers. Nodes whose
 * texts differ do not understand each other; all other keys are each node's own business. It holds the key.
 */
export function concealCommon(profile: ConcealProfile): string {
  const { headerProtectionKey, randomTrailers } = profile;
  return [
    ...CONCEAL_KINDS.map((kind) => profile[kind.padding]),
    ...CONCEAL_KINDS.map((kind) => formatConcealRange(profile[kind.types])),
    headerProtectionKey ? toHex(headerProtectionKey.expose()) : "",
    randomTrailers,
  ].join(" ");
}
