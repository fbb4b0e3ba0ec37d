import { prefixFrom, prefixParts } from "@weft/protocol";
import type { Prefix } from "@weft/protocol";
import type { Network } from "./peer.ts";

/** All addresses but those of a network, as ranges. */
export function addressesOutside({
  ipv4Range,
  ipv6Range,
}: Pick<Network, "ipv4Range" | "ipv6Range">): readonly Prefix[] {
  return [...(ipv4Range ? around(ipv4Range) : [everything(4)]), ...(ipv6Range ? around(ipv6Range) : [everything(6)])];
}

/** The range beside each of the ranges that lead from everything down to this one. */
function around(range: Prefix): Prefix[] {
  const { family, value, length } = prefixParts(range);
  const width = BigInt(family === 4 ? 32 : 128);
  return Array.from({ length }, (_, above) => {
    const bit = width - BigInt(above) - 1n;
    return known(prefixFrom(family, ((value >> bit) ^ 1n) << bit, above + 1));
  });
}

function everything(family: 4 | 6): Prefix {
  return known(prefixFrom(family, 0n, 0));
}

function known(prefix: ReturnType<typeof prefixFrom>): Prefix {
  if (!prefix.ok) throw new Error("a range beside a range is always one");
  return prefix.value;
}
