import type { Bar, BestOf, Term } from "./ratios.ts";

/** Peers that plain tunnels are compared with; the best of those that are present counts. */
const PEERS = ["wireguard-go", "boringtun", "gotatun", "amneziawg-go"] as const;
const fastest: BestOf = { bestOf: PEERS, by: "highest" };
const cheapest: BestOf = { bestOf: PEERS, by: "lowest" };

/** Bars of the suite `tunnel`, on two cores with both ends and the load tool on one machine. */
export const TUNNEL_BARS: readonly Bar[] = [
  atLeast(2.6, "tcp-1: weft / wireguard-go", [weft("tcp-1"), row("tcp-1", "wireguard-go")]),
  atLeast(1.8, "tcp-1: weft ChaCha20 / wireguard-go", [row("tcp-1", "weft ChaCha20"), row("tcp-1", "wireguard-go")]),
  atLeast(2.8, "tcp-4: weft / wireguard-go", [weft("tcp-4"), row("tcp-4", "wireguard-go")]),
  atLeast(2.5, "tcp-bidir: weft / wireguard-go", [weft("tcp-bidir"), row("tcp-bidir", "wireguard-go")]),
  atLeast(0.95, "tcp-1-reverse: weft / tcp-1: weft", [weft("tcp-1-reverse"), weft("tcp-1")]),
  atLeast(0.95, "tcp-1-v6: weft / tcp-1: weft", [weft("tcp-1-v6"), weft("tcp-1")]),
  atLeast(0.8, "forwarded: weft / tcp-1: weft", [weft("forwarded"), weft("tcp-1")]),
  atLeast(2.2, "tcp-1-nic: weft / wireguard-go", [weft("tcp-1-nic"), row("tcp-1-nic", "wireguard-go")]),
  atLeast(3, "tcp-1: weft / weft without offload", [weft("tcp-1"), row("tcp-1", "weft without offload")]),
  atLeast(0.99, "profile counters on / off", [weft("tcp-1"), row("tcp-1", "weft without profile counters")]),
  atMost(0.8, "udp-paced-200 CPU: weft / best peer", [
    weft("udp-paced-200", "cpuSeconds"),
    row("udp-paced-200", cheapest, "cpuSeconds"),
  ]),
  atMost(0.8, "udp-paced-400 CPU: weft / best peer", [
    weft("udp-paced-400", "cpuSeconds"),
    row("udp-paced-400", cheapest, "cpuSeconds"),
  ]),
  atLeast(1.6, "udp-1372 received: weft / best peer", [weft("udp-1372"), row("udp-1372", fastest)]),
  atLeast(1.5, "udp-64 packets: weft / best peer", [weft("udp-64"), row("udp-64", fastest)]),
  atMost(0.3, "cpu-per-GB: weft / wireguard-go", [
    weft("tcp-1", "cpuSecondsPerGB"),
    row("tcp-1", "wireguard-go", "cpuSecondsPerGB"),
  ]),
];

export const LATENCY_BARS: readonly Bar[] = [
  atMost(0.95, "ping-idle p50: weft / best peer", [weft("ping-idle"), row("ping-idle", cheapest)]),
  atMost(1.1, "latency ping-idle p50: weft / boringtun", [weft("ping-idle"), row("ping-idle", "boringtun")]),
  atMost(0.15, "ping-loaded p50: weft / wireguard-go", [weft("ping-loaded"), row("ping-loaded", "wireguard-go")]),
];

/** Bars of the suite `memory`: amounts in MB (10^6 bytes), per peer in bytes, times in µs. */
export const MEMORY_BARS: readonly Bar[] = [
  atMost(110, "agent RSS idle", [weft("rss-idle")]),
  {
    name: "agent RSS idle above bare Node",
    value: weft("rss-idle"),
    minus: row("rss-idle", "bare Node"),
    direction: "at most",
    bar: 64,
  },
  atMost(0.6, "rss-loaded: weft / wireguard-go", [weft("rss-loaded"), row("rss-loaded", "wireguard-go")]),
  atMost(2_000, "memory per idle peer", [weft("bytes-per-idle-peer")]),
  atMost(1_000, "one peer change at 10,000 peers", [weft("peer-change", "p99")]),
];

/** Bars of the suite `handshake`. */
export const HANDSHAKE_BARS: readonly Bar[] = [
  atLeast(1_000, "responder handshakes per second: weft", [weft("responder")]),
  atLeast(0.5, "handshake: weft / wireguard-go", [weft("responder-on-wire"), row("responder-on-wire", "wireguard-go")]),
  atLeast(0.99, "legitimate handshakes under flood", [weft("flood")]),
];

/** Bars of the suite `hostile`. */
export const HOSTILE_BARS: readonly Bar[] = [
  atLeast(0.7, "tcp under 200,000 hostile datagrams/s / undisturbed", [
    weft("tcp-under-garbage"),
    weft("tcp-undisturbed"),
  ]),
  atMost(16, "memory growth under hostile datagrams, MB", [weft("memory-under-garbage")]),
  atLeast(0.99, "hostile datagrams counted", [weft("drops-counted")]),
];

type Compared = readonly [value: Term, dividedBy?: Term];

function atLeast(bar: number, name: string, [value, dividedBy]: Compared): Bar {
  return { name, value, ...(dividedBy ? { dividedBy } : {}), direction: "at least", bar };
}

function atMost(bar: number, name: string, compared: Compared): Bar {
  return { ...atLeast(bar, name, compared), direction: "at most" };
}

function weft(name: string, extra?: string): Term {
  return row(name, "weft", extra);
}

function row(name: string, contender: string | BestOf, extra?: string): Term {
  return { case: name, contender, ...(extra === undefined ? {} : { extra }) };
}
