import type { TunnelSelf } from "@weft/dataplane";
import { err, ok, type Result } from "@weft/protocol";

/** What this host says about the MTU of its tunnel interface; empty = the network map decides. */
export type MtuPolicy = Partial<Pick<TunnelSelf, "mtu" | "mtuMax">> & {
  /** Random bytes before each message, for which an MTU of the map leaves no room; default: none. */
  readonly paddingBytes?: number;
};

export type MtuPolicyError = { readonly code: "bad_environment"; readonly message: string };

/**
 * Reads `WEFT_MTU`: `auto` lets the interface grow to what paths carry, up to `WEFT_MTU_MAX`; a number is the MTU whatever the map
 * says.
 */
export function mtuPolicy(environment: NodeJS.ProcessEnv): Result<MtuPolicy, MtuPolicyError> {
  const mtu = environment["WEFT_MTU"] ?? "";
  const max = environment["WEFT_MTU_MAX"] ?? "";
  if (max !== "" && !isMtu(max)) return bad("WEFT_MTU_MAX", "", max);
  const mtuMax = max === "" ? AUTO_MTU_MAX : Number(max);
  if (mtu === "auto") return ok({ mtuMax });
  if (mtu === "") return ok({});
  return isMtu(mtu) ? ok({ mtu: Number(mtu) }) : bad("WEFT_MTU", "auto or ", mtu);
}

function isMtu(text: string): boolean {
  const value = Number(text);
  return Number.isInteger(value) && value >= MTU_MIN && value <= MTU_MAX;
}

function bad(name: string, words: string, text: string): Result<never, MtuPolicyError> {
  const message = `${name} must be ${words}a whole number from ${MTU_MIN} to ${MTU_MAX}, not "${text}"`;
  return err({ code: "bad_environment", message });
}

const MTU_MIN = 576;
/** One datagram carries no longer packet. */
const MTU_MAX = 65_475;
/** What Ethernet with large frames has. */
const AUTO_MTU_MAX = 9_000;
