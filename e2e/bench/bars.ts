import type { Bar } from "./ratios.ts";

/** Bars of the suite `tunnel`, on two cores with both ends and the load tool on one machine. */
export const TUNNEL_BARS: readonly Bar[] = [
  {
    name: "tcp-1: weft / wireguard-go",
    value: { case: "tcp-1", contender: "weft" },
    dividedBy: { case: "tcp-1", contender: "wireguard-go" },
    direction: "at least",
    bar: 1.6,
  },
  {
    name: "tcp-4: weft / wireguard-go",
    value: { case: "tcp-4", contender: "weft" },
    dividedBy: { case: "tcp-4", contender: "wireguard-go" },
    direction: "at least",
    bar: 1.7,
  },
  {
    name: "tcp-1-v6: weft / tcp-1: weft",
    value: { case: "tcp-1-v6", contender: "weft" },
    dividedBy: { case: "tcp-1", contender: "weft" },
    direction: "at least",
    bar: 0.9,
  },
  {
    name: "tcp-1: weft / weft without offload",
    value: { case: "tcp-1", contender: "weft" },
    dividedBy: { case: "tcp-1", contender: "weft without offload" },
    direction: "at least",
    bar: 3,
  },
  {
    name: "cpu-per-GB: weft / wireguard-go",
    value: { case: "tcp-1", contender: "weft", extra: "cpuSecondsPerGB" },
    dividedBy: { case: "tcp-1", contender: "wireguard-go", extra: "cpuSecondsPerGB" },
    direction: "at most",
    bar: 0.55,
  },
];

export const LATENCY_BARS: readonly Bar[] = [
  {
    name: "latency ping-idle p50: weft / boringtun",
    value: { case: "ping-idle", contender: "weft" },
    dividedBy: { case: "ping-idle", contender: "boringtun" },
    direction: "at most",
    bar: 1.1,
  },
];

/** Bars of the suite `memory`, in MB. */
export const MEMORY_BARS: readonly Bar[] = [
  {
    name: "agent RSS idle",
    value: { case: "rss-idle", contender: "weft" },
    direction: "at most",
    bar: 110,
  },
  {
    name: "agent RSS idle above bare Node",
    value: { case: "rss-idle", contender: "weft" },
    minus: { case: "rss-idle", contender: "bare Node" },
    direction: "at most",
    bar: 64,
  },
];

/** Bar of the suite `handshake`: completed handshakes per second of one responder on one core. */
export const HANDSHAKE_BARS: readonly Bar[] = [
  {
    name: "responder handshakes per second: weft",
    value: { case: "responder", contender: "weft" },
    direction: "at least",
    bar: 1_000,
  },
];
