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
  atMost(0.03, "filter 1 rule: share of the workers' time", [row("tcp-1", "weft with 1 rule", "filterShare")]),
  atLeast(0.97, "filter 10,000 rules / 1 rule", [
    row("tcp-1", "weft with 10,000 rules"),
    row("tcp-1", "weft with 1 rule"),
  ]),
  atLeast(0.97, "100,000 flows / 1 rule", [row("tcp-1", "weft with 100,000 flows"), row("tcp-1", "weft with 1 rule")]),
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

/** Budgets of the suite `control-plane`: shares of what is allowed, so 1 or less holds. */
export const CONTROL_PLANE_BARS: readonly Bar[] = [
  withinBudget("B1 p95", 1_000, weft("join")),
  withinBudget("B1 bytes", 1_000, weft("join", "bytesPerAgent")),
  withinBudget("B1 p95 by group", 1_000, weft("join-by-group")),
  withinBudget("B1 bytes by group", 1_000, weft("join-by-group", "bytesPerAgent")),
  withinBudget("B2 CPU", 60, weft("first-map")),
  withinBudget("B2 bytes", 80, weft("first-map", "bytesPerPeer")),
  withinBudget("B3 maps", 15_000, weft("return")),
  withinBudget("B3 maps, none kept", 15_000, weft("return-without-map")),
  withinBudget("B3 API p95", 500, weft("return", "apiP95Ms")),
  withinBudget("B3 API p95, no map kept", 500, weft("return-without-map", "apiP95Ms")),
  atMost(0, "B3 false offline", [weft("return", "falseOffline")]),
  atMost(0, "B3 false offline, no map kept", [weft("return-without-map", "falseOffline")]),
  withinBudget("B4 p95", 50, weft("list")),
  withinBudget("B5 CPU", 3, weft("idle")),
  withinBudget("B5 RSS", 400, weft("idle", "bothMb")),
  withinBudget("B6 CPU", 1, weft("counters")),
  withinBudget("B6 counter to page", 2_000, weft("counters", "toPageP95Ms")),
  withinBudget("B7", 1_000, weft("peer-change", "p99")),
  withinBudget("B8 writes per 10 s", 1, weft("idle", "writesPer10s")),
  atMost(2, "SC-4 change among 1,000 / among 100", [weft("change-1000"), weft("change-100")]),
  atMost(2, "SC-4 change among 5,000 / among 100", [weft("change-5000"), weft("change-100")]),
];

type Compared = readonly [value: Term, dividedBy?: Term];

function atLeast(bar: number, name: string, [value, dividedBy]: Compared): Bar {
  return { name, value, ...(dividedBy ? { dividedBy } : {}), direction: "at least", bar };
}

function atMost(bar: number, name: string, compared: Compared): Bar {
  return { ...atLeast(bar, name, compared), direction: "at most" };
}

function withinBudget(name: string, budget: number, value: Term): Bar {
  return { name, value, budget, direction: "at most", bar: 1 };
}

function weft(name: string, extra?: string): Term {
  return row(name, "weft", extra);
}

function row(name: string, contender: string | BestOf, extra?: string): Term {
  return { case: name, contender, ...(extra === undefined ? {} : { extra }) };
}
