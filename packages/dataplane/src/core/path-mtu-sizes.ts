/** Sizes are bytes of UDP payload: what a whole datagram of ours is long. */
export type PathBounds = {
  /** Every path of the address family carries this. */
  readonly floor: number;
  /** Used while nothing is known. */
  readonly assumed: number;
  /** Nothing larger is tried. */
  readonly max: number;
  /** IP and UDP header. */
  readonly headerBytes: number;
  /** Padding, header and tag around an inner packet. */
  readonly overheadBytes: number;
};

export type BoundsInput = {
  readonly family: 4 | 6;
  /** MTU of the interface that is certain: the one configured. */
  readonly mtu: number;
  /** Largest MTU the interface may get. */
  readonly mtuMax: number;
  readonly probes: "sent" | "not-sent";
  /** Random bytes before each message; default: none. */
  readonly paddingBytes?: number;
};

export function pathBounds(input: BoundsInput): PathBounds {
  const headerBytes = input.family === 4 ? 28 : 48;
  const overheadBytes = DATA_OVERHEAD_BYTES + (input.paddingBytes ?? 0);
  const max = Math.min(input.mtuMax + overheadBytes, IP_PACKET_BYTES_MAX - headerBytes);
  // Without probes nobody would ever raise a careful guess, so what was configured is believed.
  const believed =
    input.probes === "sent" ? Math.min(input.mtu, INNER_MTU_ASSUMED - overheadBytes + DATA_OVERHEAD_BYTES) : input.mtu;
  const floor = (input.family === 4 ? IPV4_MTU_MIN : IPV6_MTU_MIN) - headerBytes;
  const assumed = Math.max(Math.min(believed + overheadBytes, max), floor);
  return { floor, assumed, max: Math.max(max, assumed), headerBytes, overheadBytes };
}

/** Sizes that show whether the peer is reachable at all when larger ones get lost, largest first. */
export function guardsBelow(size: number, bounds: PathBounds): readonly number[] {
  return [INNER_MTU_SAFE + bounds.overheadBytes, bounds.floor].filter((guard) => guard < size && guard >= bounds.floor);
}

/** The size to try between one that passed and one that did not; null when they are close enough. */
export function sizeBetween(above: number, below: number, bounds: PathBounds): number | null {
  if (below > bounds.max && above < bounds.max) return bounds.max;
  if (below - above <= GRANULARITY_BYTES) return null;
  const middle = Math.floor((above + below) / 2);
  const usual = USUAL_MTUS.map((mtu) => mtu - bounds.headerBytes).filter((size) => size > above && size < below);
  const distance = (size: number): number => Math.abs(size - middle);
  return (
    usual.reduce<number | null>(
      (best, size) => (best === null || distance(size) < distance(best) ? size : best),
      null,
    ) ?? middle
  );
}

/** Longest inner packet in a datagram of this size. */
export function innerBytes(payloadBytes: number, overheadBytes: number = DATA_OVERHEAD_BYTES): number {
  return payloadBytes - overheadBytes;
}

/** Header and tag of a data message. */
const DATA_OVERHEAD_BYTES = 32;
/** Fits Ethernet, PPPoE and most tunnels below us; what WireGuard uses everywhere. */
const INNER_MTU_ASSUMED = 1_420;
/** IPv6 needs it inside. */
const INNER_MTU_SAFE = 1_280;
const IPV4_MTU_MIN = 576;
const IPV6_MTU_MIN = 1_280;
const IP_PACKET_BYTES_MAX = 65_535;
/** A search ends this close below the truth. */
const GRANULARITY_BYTES = 8;
/** MTUs that links and tunnels really have. */
const USUAL_MTUS = [
  9_000, 8_500, 4_352, 2_002, 1_500, 1_492, 1_480, 1_450, 1_440, 1_420, 1_400, 1_380, 1_360, 1_300, 1_280,
];
