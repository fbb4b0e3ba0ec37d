import type { LinkSample } from "../../api/types.ts";

/** Adds up what a peer exchanged with all others, exactly: the counters have 64 bits. */
export function linkTotals(links: readonly LinkSample[]): { readonly rxBytes: bigint; readonly txBytes: bigint } {
  return links.reduce(
    (sum, link) => ({ rxBytes: sum.rxBytes + BigInt(link.rxBytes), txBytes: sum.txBytes + BigInt(link.txBytes) }),
    { rxBytes: 0n, txBytes: 0n },
  );
}
