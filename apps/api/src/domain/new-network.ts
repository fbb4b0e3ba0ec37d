import { err, networkIds, ok } from "@weft/protocol";
import type { Prefix, RandomBytes, Result } from "@weft/protocol";
import type { Failure } from "./failure.ts";
import type { Network } from "./peer.ts";
import { overlapping, parseRange, proposeIpv4, proposeIpv6 } from "./ranges.ts";

/** What the caller wishes; ranges that are left out are proposed, `null` means none of that family. */
export type NetworkWish = {
  readonly name: string;
  readonly ipv4Range?: string | null | undefined;
  readonly ipv6Range?: string | null | undefined;
};

/** Makes a network out of a wish, or says why its ranges cannot be. */
export function planNetwork(
  wish: NetworkWish,
  existing: readonly Network[],
  inputs: { readonly now: Date; readonly random: RandomBytes },
): Result<Network, Failure> {
  const taken = takenRanges(existing);
  const ipv4Range = chooseRange(wish.ipv4Range, { family: 4, taken, random: inputs.random });
  if (!ipv4Range.ok) return ipv4Range;
  const ipv6Range = chooseRange(wish.ipv6Range, { family: 6, taken, random: inputs.random });
  if (!ipv6Range.ok) return ipv6Range;
  if (!ipv4Range.value && !ipv6Range.value) {
    return err({ code: "range_invalid", range: "none", detail: "a network needs a range of at least one family" });
  }
  return ok({
    id: networkIds.make(inputs.random),
    name: wish.name,
    ipv4Range: ipv4Range.value,
    ipv6Range: ipv6Range.value,
    epoch: makeEpoch(inputs.random),
    sequence: 0n,
    profileFallback: "refuse",
    flowSampling: null,
    flowKeepHours: FLOW_KEEP_HOURS,
    approval: "automatic",
    membershipSeconds: null,
    idleRemovalSeconds: null,
    conceal: null,
    createdAt: inputs.now,
  });
}

/** Ranges that a new network could have. */
export function proposeRanges(
  existing: readonly Network[],
  random: RandomBytes,
): Result<{ ipv4Range: Prefix; ipv6Range: Prefix }, Failure> {
  const taken = takenRanges(existing).map(({ range }) => range);
  const ipv4Range = proposeIpv4(taken, random);
  return ipv4Range ? ok({ ipv4Range, ipv6Range: proposeIpv6(random) }) : err(NO_PROPOSAL);
}

/** A random number that names one history of maps; 63 bits, so that the database's signed numbers hold it. */
export function makeEpoch(random: RandomBytes): bigint {
  const value = random(8).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return BigInt.asUintN(63, value) || 1n;
}

function chooseRange(
  wish: string | null | undefined,
  context: { readonly family: 4 | 6; readonly taken: readonly TakenRange[]; readonly random: RandomBytes },
): Result<Prefix | null, Failure> {
  if (wish === null) return ok(null);
  if (wish === undefined) {
    if (context.family === 6) return ok(proposeIpv6(context.random));
    const proposed = proposeIpv4(
      context.taken.map(({ range }) => range),
      context.random,
    );
    return proposed ? ok(proposed) : err(NO_PROPOSAL);
  }
  const range = parseRange(wish, context.family);
  if (!range.ok) return range;
  const other = overlapping(range.value, context.taken);
  return other ? err({ code: "range_overlaps", range: range.value, network: other.network }) : range;
}

type TakenRange = { readonly range: Prefix; readonly network: string };

function takenRanges(networks: readonly Network[]): TakenRange[] {
  return networks.flatMap((network) =>
    [network.ipv4Range, network.ipv6Range].flatMap((range) => (range ? [{ range, network: network.name }] : [])),
  );
}

const NO_PROPOSAL: Failure = {
  code: "range_invalid",
  range: "100.64.0.0/10",
  detail: "every part of it is taken by another network: choose an IPv4 range yourself",
};

/** A week. */
export const FLOW_KEEP_HOURS = 168;
