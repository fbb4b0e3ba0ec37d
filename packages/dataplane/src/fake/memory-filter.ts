import { NO_SLOT, type WireFilter, type WireRule } from "../core/engine-port.ts";
import { type InnerPacket, inPrefix } from "./inner-packet.ts";

/** Rules with memory, as the engine has them: answers of an allowed flow pass while the rules still allow it. */
export type MemoryFilter = {
  readonly replace: (filter: WireFilter) => void;
  readonly passes: (packet: InnerPacket, passage: Passage) => boolean;
  /** Ends all flows of a peer that is removed; its slot may be given again. */
  readonly forget: (slot: number) => void;
  readonly flows: () => readonly MemoryFlow[];
  /** What is to be recorded; see the engine's `takeFlowRecords`. */
  readonly takeRecords: (sampling: number, nowMs: number) => readonly MemoryFlow[];
  readonly ruleRows: (nowMs: number) => readonly (readonly bigint[])[];
};

type Direction = "in" | "out";

type Passage = { readonly direction: Direction; readonly slot: number; readonly bytes: number; readonly nowMs: number };

export type MemoryFlow = {
  readonly id: bigint;
  /** When it was recorded last. */
  toldAtMs: number | null;
  readonly slot: number;
  /** The packet that began it. */
  first: InnerPacket;
  began: Direction;
  readonly startedAtMs: number;
  lastAtMs: number;
  generation: number;
  /** The packet a direction was allowed for, and its rule. */
  readonly ways: Map<Direction, { readonly packet: InnerPacket; readonly rule: WireRule }>;
  deniedBy: WireRule | null;
  readonly packets: Record<Direction, bigint>;
  readonly bytes: Record<Direction, bigint>;
  drops: bigint;
};

export function createMemoryFilter(): MemoryFilter {
  let filter: WireFilter = { sets: [], rules: [] };
  let generation = 0;
  const flows = new Map<string, MemoryFlow>();
  let born = 0n;
  let sampling = 0;
  let ended: MemoryFlow[] = [];
  const counts = new Map<number, RuleCounts>();
  const count = (rule: WireRule, met: RuleCounts): void => {
    const before = counts.get(rule.id);
    counts.set(rule.id, {
      packets: (before?.packets ?? 0n) + met.packets,
      bytes: (before?.bytes ?? 0n) + met.bytes,
      drops: (before?.drops ?? 0n) + met.drops,
      flows: (before?.flows ?? 0n) + met.flows,
      lastAtMs: met.lastAtMs,
    });
  };
  const flowOf = (packet: InnerPacket, { direction, slot, nowMs }: Passage): MemoryFlow => {
    const key = keyOf(packet, direction);
    const known = flows.get(key);
    if (known && known.slot === slot && nowMs - known.lastAtMs <= idleMaxMs(known)) return known;
    if (known && sampling > 0) ended.push(known);
    born += 1n;
    const made = newFlow(packet, { id: born, direction, slot, nowMs, generation });
    flows.set(key, made);
    return made;
  };
  return {
    replace(next) {
      filter = next;
      generation += 1;
      const ids = new Set(next.rules.map(({ id }) => id));
      for (const id of counts.keys()) if (!ids.has(id)) counts.delete(id);
    },
    passes(packet, passage) {
      const { direction, bytes, nowMs } = passage;
      const flow = flowOf(packet, passage);
      if (flow.generation !== generation) follow(flow, { filter, generation });
      const isFirst = flow.ways.size === 0 && flow.drops === 0n;
      const rule = ruleFor(flow, { packet, direction, filter });
      const met = { flows: isFirst ? 1n : 0n, lastAtMs: nowMs };
      if (rule?.action === "allow") {
        flow.packets[direction] += 1n;
        flow.bytes[direction] += BigInt(bytes);
        flow.lastAtMs = nowMs;
        count(rule, { packets: 1n, bytes: BigInt(bytes), drops: 0n, ...met });
        return true;
      }
      flow.deniedBy = rule ?? null;
      flow.drops += 1n;
      if (rule) count(rule, { packets: 0n, bytes: 0n, drops: 1n, ...met });
      return false;
    },
    forget(slot) {
      for (const [key, flow] of flows) {
        if (flow.slot !== slot) continue;
        flows.delete(key);
        if (sampling > 0) ended.push({ ...flow, slot: NO_SLOT });
      }
    },
    flows: () => [...flows.values()],
    takeRecords(wanted, nowMs) {
      sampling = wanted;
      const gone = ended;
      ended = [];
      if (sampling === 0) return [];
      const takes = ({ id }: MemoryFlow): boolean => id % BigInt(wanted) === 0n;
      const living = [...flows.values()].filter((flow) => takes(flow) && isNews(flow, nowMs));
      for (const flow of living) flow.toldAtMs = isEnded(flow, nowMs) ? Infinity : nowMs;
      return [...gone.filter((flow) => takes(flow) && flow.toldAtMs !== Infinity), ...living];
    },
    ruleRows: (nowMs) => filter.rules.map(({ id }) => ruleRow(id, counts.get(id) ?? NEVER_MET, nowMs)),
  };
}

/** A row as the addon gives it. */
function ruleRow(id: number, { packets, bytes, drops, flows, lastAtMs }: RuleCounts, nowMs: number): readonly bigint[] {
  const age = lastAtMs === null ? NEVER : BigInt(Math.max(0, Math.round(nowMs - lastAtMs)));
  return [BigInt(id), packets, bytes, drops, flows, age];
}

type RuleCounts = {
  readonly packets: bigint;
  readonly bytes: bigint;
  readonly drops: bigint;
  readonly flows: bigint;
  readonly lastAtMs: number | null;
};

/** Whether there is something new to record, at the engine's pace. */
function isNews(flow: MemoryFlow, nowMs: number): boolean {
  if (flow.toldAtMs === Infinity) return false;
  if (isEnded(flow, nowMs)) return true;
  if (flow.toldAtMs === null) return nowMs - flow.startedAtMs >= 2_000;
  return flow.lastAtMs > flow.toldAtMs && nowMs - flow.toldAtMs >= 30_000;
}

/** The rule that speaks about the packet: its own way's, that of the flow it answers, or the first in the list. */
function ruleFor(
  flow: MemoryFlow,
  asked: { readonly packet: InnerPacket; readonly direction: Direction; readonly filter: WireFilter },
): WireRule | undefined {
  const { packet, direction, filter } = asked;
  const own = flow.ways.get(direction)?.rule;
  if (own) return own;
  const asker = flow.ways.get(opposite(direction))?.rule;
  if (asker?.replies === "pass" && namesAnswers(packet)) return asker;
  const rule = firstMatch(filter, packet, direction);
  if (rule?.action === "allow") {
    if (flow.ways.size === 0) [flow.began, flow.first] = [direction, packet];
    flow.ways.set(direction, { packet, rule });
  }
  return rule;
}

/** After a change: what the rules no longer allow is forgotten. */
function follow(flow: MemoryFlow, to: { readonly filter: WireFilter; readonly generation: number }): void {
  flow.generation = to.generation;
  for (const [direction, { packet }] of flow.ways) {
    const rule = firstMatch(to.filter, packet, direction);
    if (rule?.action === "allow") flow.ways.set(direction, { packet, rule });
    else flow.ways.delete(direction);
  }
}

function firstMatch(filter: WireFilter, packet: InnerPacket, direction: Direction): WireRule | undefined {
  const lies = (place: number | null, address: Uint8Array): boolean =>
    place === null || (filter.sets[place] ?? []).some((prefix) => inPrefix(address, prefix));
  return filter.rules.find(
    (rule) =>
      (rule.direction === "both" || rule.direction === direction) &&
      (rule.protocol === null || rule.protocol === packet.protocol) &&
      lies(rule.source, packet.source) &&
      lies(rule.destination, packet.destination) &&
      matchesHeader(rule, packet),
  );
}

/** A fragment hides its header: it meets what denies any of its protocol, and nothing that allows only some of it. */
function matchesHeader({ action, ports, icmp }: WireRule, packet: InnerPacket): boolean {
  if (ports.length > 0) {
    const to = packet.ports?.destination;
    if (to === undefined) return action === "deny" && PORT_PROTOCOLS.has(packet.protocol);
    return ports.some(({ low, high }) => low <= to && to <= high);
  }
  if (!icmp) return true;
  if (!packet.icmp) return action === "deny" && ICMP_PROTOCOLS.has(packet.protocol);
  return packet.icmp.type === icmp.type && (icmp.code === null || icmp.code === packet.icmp.code);
}

/** Whether a packet says what it answers; fragments of protocols with ports or types do not. */
function namesAnswers({ ports, icmp, protocol }: InnerPacket): boolean {
  return ports !== null || icmp !== null || !(PORT_PROTOCOLS.has(protocol) || ICMP_PROTOCOLS.has(protocol));
}

const PORT_PROTOCOLS: ReadonlySet<number> = new Set([6, 17]);
const ICMP_PROTOCOLS: ReadonlySet<number> = new Set([1, 58]);

/** The same for a packet and its answer. */
function keyOf(packet: InnerPacket, direction: Direction): string {
  const [local, remote] = ends(packet.source.join("."), packet.destination.join("."), direction);
  const [localPort, remotePort] = ends(packet.ports?.source ?? "", packet.ports?.destination ?? "", direction);
  return [
    local,
    remote,
    packet.protocol,
    localPort,
    remotePort,
    packet.icmp ? icmpKey(packet.icmp, direction) : "",
  ].join(" ");
}

function icmpKey(icmp: { readonly type: number; readonly id: number }, direction: Direction): string {
  if (icmp.type === 8 || icmp.type === 128) return `echo ${icmp.id} ${direction}`;
  if (icmp.type === 0 || icmp.type === 129) return `echo ${icmp.id} ${opposite(direction)}`;
  return `${icmp.type} ${direction}`;
}

function ends<T>(source: T, destination: T, direction: Direction): readonly [T, T] {
  return direction === "out" ? [source, destination] : [destination, source];
}

function opposite(direction: Direction): Direction {
  return direction === "in" ? "out" : "in";
}

function newFlow(
  packet: InnerPacket,
  at: Pick<Passage, "direction" | "slot" | "nowMs"> & Pick<MemoryFlow, "id" | "generation">,
): MemoryFlow {
  return {
    id: at.id,
    toldAtMs: null,
    slot: at.slot,
    first: packet,
    began: at.direction,
    startedAtMs: at.nowMs,
    lastAtMs: at.nowMs,
    generation: at.generation,
    ways: new Map(),
    deniedBy: null,
    packets: { in: 0n, out: 0n },
    bytes: { in: 0n, out: 0n },
    drops: 0n,
  };
}

export function isEnded(flow: MemoryFlow, nowMs: number): boolean {
  return flow.slot === NO_SLOT || nowMs - flow.lastAtMs > idleMaxMs(flow);
}

/** As long as the engine remembers flows; it knows more states of TCP. */
function idleMaxMs(flow: MemoryFlow): number {
  if (flow.ways.size === 0) return 30_000;
  if (flow.first.icmp) return 30_000;
  if (!flow.first.ports) return 600_000;
  if (flow.first.protocol === 17) return 180_000;
  return flow.packets.in > 0n && flow.packets.out > 0n ? 7_440_000 : 60_000;
}

const NEVER_MET: RuleCounts = { packets: 0n, bytes: 0n, drops: 0n, flows: 0n, lastAtMs: null };
/** As the engine writes an age without an event. */
const NEVER = 2n ** 64n - 1n;
