import type { FilterRule, PeerId } from "@weft/protocol";

/** What the rules of a network allow, compiled once per change of the rules. */
export type AccessPolicy = { readonly allowsAll: boolean };

/** Compiles rules. No rule allows nothing. */
export function compilePolicy(rules: readonly { readonly kind: "all-to-all" }[]): AccessPolicy {
  return { allowsAll: rules.some((rule) => rule.kind === "all-to-all") };
}

/** True when `viewer` may know of `other`: some traffic between them is allowed in one direction. */
export function maySee(policy: AccessPolicy, viewer: PeerId, other: PeerId): boolean {
  return viewer !== other && policy.allowsAll;
}

/** Packet rules of one node. What no rule allows, the engine drops. */
export function filterFor(policy: AccessPolicy): readonly FilterRule[] {
  if (!policy.allowsAll) return [];
  return [{ id: 1, action: "allow", direction: "both", protocol: null, source: null, destination: null, ports: null }];
}
