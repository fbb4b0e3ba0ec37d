import { endpointOf, endpointParts, parseIp, parsePrefix, prefixContains } from "@weft/protocol";
import type { Endpoint, IpAddress, Prefix } from "@weft/protocol";
import type { PeerEndpoint } from "./peer.ts";

/** What is known about where a node can be reached. */
export type EndpointFacts = {
  readonly reported: readonly Endpoint[];
  readonly listenPort: number;
  /** Address that the node's stream comes from; `undefined` when it says nothing (a local socket). */
  readonly observed: string | undefined;
  /** Ranges of overlays; an address inside one would send the tunnel through itself. */
  readonly overlayRanges: readonly Prefix[];
};

/** Candidates, best first: the address that reached us, then the others in the node's own order. */
export function chooseEndpoints(facts: EndpointFacts): PeerEndpoint[] {
  const usable = facts.reported.filter((endpoint) => isUsable(endpointParts(endpoint).address, facts.overlayRanges));
  const chosen: PeerEndpoint[] = [...new Set(usable)].map((address) => ({ address, source: "interface" }));
  const observed = observedEndpoint(facts);
  if (observed) {
    const place = chosen.findIndex(({ address }) => address === observed);
    const [known] = place < 0 ? [] : chosen.splice(place, 1);
    if (known) chosen.unshift(known);
    else chosen.push({ address: observed, source: "observed" });
  }
  return chosen.slice(0, ENDPOINTS_MAX);
}

/** True when both lists say the same in the same order. */
export function sameEndpoints(left: readonly PeerEndpoint[], right: readonly PeerEndpoint[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ address, source }, place) => address === right[place]?.address && source === right[place]?.source)
  );
}

function observedEndpoint({ observed, listenPort, overlayRanges }: EndpointFacts): Endpoint | undefined {
  if (observed === undefined) return undefined;
  const address = parseIp(observed);
  if (!address.ok || !isUsable(address.value, overlayRanges)) return undefined;
  const endpoint = endpointOf(address.value, listenPort);
  return endpoint.ok ? endpoint.value : undefined;
}

function isUsable(address: IpAddress, overlayRanges: readonly Prefix[]): boolean {
  return ![...NEVER, ...overlayRanges].some((range) => prefixContains(range, address));
}

const NEVER: readonly Prefix[] = [
  "0.0.0.0/8",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/3",
  "::/127",
  "fe80::/10",
  "ff00::/8",
].map((text) => {
  const prefix = parsePrefix(text);
  if (!prefix.ok) throw new Error(`${text} is written wrongly in this file`);
  return prefix.value;
});

const ENDPOINTS_MAX = 16;
