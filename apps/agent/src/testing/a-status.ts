import type { StatusView } from "../daemon/status-view.ts";

/** The status of a member without peers. */
export function aStatus(changes: Partial<StatusView> = {}): StatusView {
  return {
    version: "1",
    pid: 7,
    uptimeMs: 1_500,
    server: { url: "http://s", state: "connected", reason: null, retryInMs: null, clockSkewMs: 0 },
    network: "n",
    name: "me",
    peerId: "peer_x",
    publicKey: null,
    interface: "weft0",
    ipv4: "10.0.0.1",
    ipv6: null,
    listenPort: 51_820,
    map: null,
    peers: [],
    offloads: [],
    driver: null,
    engine: { restarts: 0, lastFailure: null, drops: {}, totals: {}, syscallsPerMegabyte: null, stages: [] },
    names: null,
    problems: [],
    ...changes,
  };
}
