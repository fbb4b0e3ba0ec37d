import { networkInterfaces } from "node:os";

/** The machine's first address of its own that others may reach, when the server listens on all of them. */
export function reachableHost(listenHost: string): string | undefined {
  if (listenHost !== "0.0.0.0" && listenHost !== "::") return undefined;
  const candidates = Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    VIRTUAL.test(name) ? [] : (addresses ?? []),
  );
  const usable = candidates.filter(({ internal, address }) => !internal && !LINK_LOCAL.test(address));
  const chosen = usable.find(({ family }) => family === "IPv4") ?? usable.at(0);
  return chosen?.family === "IPv6" ? `[${chosen.address}]` : chosen?.address;
}

/** Bridges and tunnels of this very machine lead nobody to it. */
const VIRTUAL = /^(docker|br-|veth|virbr|weft|wg|tun|tap|cni|flannel)/;
const LINK_LOCAL = /^(169\.254\.|fe80:)/i;
