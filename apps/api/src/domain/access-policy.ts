import { ruleIds } from "@weft/protocol";
import type { AddressSet, FilterRule } from "@weft/protocol";
import { addressesOf, createAddressBook } from "./address-book.ts";
import type { AddressBook } from "./address-book.ts";
import { shortSum } from "./filter-key.ts";
import type { Peer } from "./peer.ts";
import { selectorKey } from "./policy-rule.ts";
import type { PolicyProtocol, PolicyRule, Selector } from "./policy-rule.ts";

/** A peer, as far as rules tell peers apart. */
export type PolicyPeer = Pick<Peer, "id" | "groupIds">;

/** Peers that every rule treats alike. */
export type PolicyClass = {
  /** Small number of the class, in the order of discovery. */
  readonly number: number;
  /** Selectors that name these peers; "all" is none of them. */
  readonly places: ReadonlySet<number>;
};

/** One side of a compiled rule: the number of its selector; `null` = all. */
type Side = number | null;

/** A rule with numbers in place of its selectors. */
export type CompiledRule = { readonly rule: PolicyRule; readonly source: Side; readonly destination: Side };

/**
 * What the rules of a network allow, compiled once per change of the rules. Peers are told apart by class, so that no
 * question costs more than two look-ups, however many rules and peers there are.
 */
export type AccessPolicy = {
  /** Rules that are on, in the order in which they are asked. */
  readonly rules: readonly CompiledRule[];
  /** By selector: the number by which nodes know its addresses, the same however the rules change. */
  readonly setNumbers: ReadonlyMap<number, number>;
  readonly classOf: (peer: PolicyPeer) => PolicyClass;
  /** True when some traffic between the two is allowed, whoever begins. */
  readonly connects: (left: PolicyClass, right: PolicyClass) => boolean;
};

/** Compiles rules in the order in which they are asked. No rule allows nothing. */
export function compilePolicy(rules: readonly PolicyRule[]): AccessPolicy {
  const selectors = new Map<string, number>();
  const sideOf = (selector: Selector): Side => {
    if (selector.kind === "all") return null;
    const key = selectorKey(selector);
    const place = selectors.get(key) ?? selectors.size;
    selectors.set(key, place);
    return place;
  };
  const compiled = rules
    .filter(({ state }) => state === "on")
    .map((rule) => ({ rule, source: sideOf(rule.source), destination: sideOf(rule.destination) }));
  const classes = createClasses(selectors);
  const known = new Map<number, Map<number, boolean>>();
  return {
    rules: compiled,
    setNumbers: setNumbersOf(selectors),
    classOf: classes,
    connects(left, right) {
      const row = known.get(left.number) ?? new Map<number, boolean>();
      known.set(left.number, row);
      const before = row.get(right.number);
      if (before !== undefined) return before;
      const connected = mayBegin(compiled, left, right) || mayBegin(compiled, right, left);
      row.set(right.number, connected);
      return connected;
    },
  };
}

/** Numbers out of ids. Two selectors that meet in one stay without: their addresses are sent whole. */
function setNumbersOf(selectors: ReadonlyMap<string, number>): ReadonlyMap<number, number> {
  const numbers = new Map<number, number>();
  const taken = new Map<number, number>();
  for (const [key, place] of selectors) {
    const number = shortSum(key);
    const other = taken.get(number);
    if (other === undefined) numbers.set(place, number);
    else numbers.delete(other);
    taken.set(number, other ?? place);
  }
  return numbers;
}

/** True when `viewer` may know of `other`: some traffic between them is allowed in one direction. */
export function maySee(policy: AccessPolicy, viewer: PolicyPeer, other: PolicyPeer): boolean {
  return viewer.id !== other.id && policy.connects(policy.classOf(viewer), policy.classOf(other));
}

/** A packet that begins a flow. */
export type FirstPacket = {
  readonly protocol: PolicyProtocol | null;
  /** Destination port of tcp and udp. */
  readonly port: number | null;
};

/** The first rule that speaks about a packet; none means that it is denied. */
export function decidingRule(
  policy: AccessPolicy,
  from: PolicyClass,
  question: { readonly to: PolicyClass; readonly packet: FirstPacket },
): PolicyRule | undefined {
  return policy.rules.find((rule) => speaksOf(rule, from, question.to) && matches(rule.rule, question.packet))?.rule;
}

/** Rules that allow something from one class to another, in order; a rule that denies everything ends the list. */
export function openingRules(policy: AccessPolicy, from: PolicyClass, to: PolicyClass): readonly PolicyRule[] {
  const found: PolicyRule[] = [];
  for (const compiled of policy.rules) {
    if (!speaksOf(compiled, from, to)) continue;
    if (compiled.rule.action === "allow") found.push(compiled.rule);
    if (compiled.rule.protocol === null) break;
  }
  return found;
}

/**
 * Packet rules for what a peer sends past the network through its exit node: those about packets from the one to the other,
 * said of all addresses that are none of the network's own.
 */
export function exitRules(
  policy: AccessPolicy,
  { from, exit }: { readonly from: PolicyPeer; readonly exit: PolicyPeer },
  outside: AddressSet,
): readonly FilterRule[] {
  const [own, there] = [policy.classOf(from), policy.classOf(exit)];
  return policy.rules
    .filter((compiled) => speaksOf(compiled, own, there))
    .map(({ rule }) => packetRule(rule, { direction: "out", destination: outside }));
}

/** What nodes call a rule: the same wherever it stands, so that its counts go on when others change. */
export function ruleNumber({ id }: Pick<PolicyRule, "id">): number {
  const [a = 0, b = 0, c = 0] = ruleIds.toBytes(id).subarray(-3);
  return a * 65_536 + b * 256 + c;
}

/** Packet rules of nodes, made when asked for and kept until one of their address sets changes. */
export type PolicyFilters = {
  /** What no rule allows, the engine drops. The same list for every node of a class. */
  readonly of: (peer: PolicyPeer) => readonly FilterRule[];
  /** Forgets what depends on a peer that came, went or changed; tells which nodes must be told. */
  readonly note: (before: Peer | undefined, after: Peer | undefined) => ReadonlySet<number>;
  /** Sides of rules as parts of packet rules, with the addresses of this moment. */
  readonly sides: () => Sides;
  /** True when the filter of a class speaks of one of these selectors. */
  readonly uses: (peer: PolicyPeer, selectors: ReadonlySet<number>) => boolean;
};

/** `members` are all peers of the network, as they are at the moment of a question. */
export function createFilters(policy: AccessPolicy, members: () => Iterable<Peer>): PolicyFilters {
  let addresses: AddressBook | undefined;
  const filters = new Map<number, readonly FilterRule[]>();
  const named = new Map<number, ReadonlySet<number>>();
  const namedBy = (own: PolicyClass): ReadonlySet<number> => {
    const found = named.get(own.number) ?? selectorsNamedBy(policy.rules, own);
    named.set(own.number, found);
    return found;
  };
  return {
    of(peer) {
      const own = policy.classOf(peer);
      const known = filters.get(own.number);
      if (known) return known;
      addresses ??= createAddressBook(members(), (member) => policy.classOf(member).places);
      namedBy(own);
      const made = filterOf(policy, own, addresses);
      filters.set(own.number, made);
      return made;
    },
    sides() {
      addresses ??= createAddressBook(members(), (member) => policy.classOf(member).places);
      return createSides(policy, addresses);
    },
    note(before, after) {
      if (sameContribution(policy, before, after)) return NOTHING;
      const touched = new Set([before, after].flatMap((peer) => (peer ? [...policy.classOf(peer).places] : [])));
      if (touched.size === 0) return NOTHING;
      addresses?.change(before, after);
      for (const [number, selectors] of named) if (intersects(selectors, touched)) filters.delete(number);
      return touched;
    },
    uses: (peer, selectors) => intersects(namedBy(policy.classOf(peer)), selectors),
  };
}

const NOTHING: ReadonlySet<number> = new Set();

/** Peers of equal selectors get one class; a peer object keeps its class, because it never changes. */
function createClasses(selectors: ReadonlyMap<string, number>): (peer: PolicyPeer) => PolicyClass {
  const byPlaces = new Map<string, PolicyClass>();
  const byPeer = new WeakMap<PolicyPeer, PolicyClass>();
  return (peer) => {
    const known = byPeer.get(peer);
    if (known) return known;
    const places = [peer.id, ...peer.groupIds].flatMap((key) => selectors.get(key) ?? []).toSorted((a, b) => a - b);
    const key = places.join();
    const found = byPlaces.get(key) ?? { number: byPlaces.size, places: new Set(places) };
    byPlaces.set(key, found);
    byPeer.set(peer, found);
    return found;
  };
}

/** True when a side of a rule names the peers of a class. */
export function namesSide(side: Side, { places }: PolicyClass): boolean {
  return side === null || places.has(side);
}

/** True when a rule is about flows that `from` begins with `to`. */
function speaksOf({ rule, source, destination }: CompiledRule, from: PolicyClass, to: PolicyClass): boolean {
  if (namesSide(source, from) && namesSide(destination, to)) return true;
  return rule.direction === "both-ways" && namesSide(source, to) && namesSide(destination, from);
}

function mayBegin(rules: readonly CompiledRule[], from: PolicyClass, to: PolicyClass): boolean {
  for (const compiled of rules) {
    if (!speaksOf(compiled, from, to)) continue;
    if (compiled.rule.action === "allow") return true;
    // What comes behind a rule that denies everything is never asked.
    if (compiled.rule.protocol === null) return false;
  }
  return false;
}

function matches(rule: PolicyRule, { protocol, port }: FirstPacket): boolean {
  if (rule.protocol === null) return true;
  if (rule.protocol !== protocol) return false;
  if (rule.icmpType !== null) return false;
  return !rule.ports || (port !== null && rule.ports.some(({ low, high }) => low <= port && port <= high));
}

/** Selectors whose addresses stand in the filter of a class. */
function selectorsNamedBy(rules: readonly CompiledRule[], own: PolicyClass): ReadonlySet<number> {
  const found = new Set<number>();
  for (const { source, destination } of rules) {
    if (destination !== null && namesSide(source, own)) found.add(destination);
    if (source !== null && namesSide(destination, own)) found.add(source);
  }
  return found;
}

function filterOf(
  { rules, setNumbers }: Pick<AccessPolicy, "rules" | "setNumbers">,
  own: PolicyClass,
  addresses: AddressBook,
): readonly FilterRule[] {
  const { from, to } = createSides({ setNumbers }, addresses);
  return rules.flatMap(({ rule, source, destination }) => {
    if (source === null && destination === null) return [packetRule(rule, { direction: "both" })];
    const ways =
      rule.direction === "both-ways"
        ? [[source, destination] as const, [destination, source] as const]
        : [[source, destination] as const];
    const parts = ways.flatMap(([begins, answers]) => [
      ...(namesSide(answers, own) ? [packetRule(rule, { direction: "in", ...from(begins) })] : []),
      ...(namesSide(begins, own) ? [packetRule(rule, { direction: "out", ...to(answers) })] : []),
    ]);
    // A rule inside one group says the same both ways.
    return parts.filter((part, at) => parts.findIndex((other) => isSamePart(part, other)) === at);
  });
}

/** A side of a rule as the source or the destination of packets. */
export type Sides = { readonly from: (side: Side) => SidePart; readonly to: (side: Side) => SidePart };

function createSides({ setNumbers }: Pick<AccessPolicy, "setNumbers">, addresses: AddressBook): Sides {
  const from = (side: Side): SidePart => {
    if (side === null) return {};
    const number = setNumbers.get(side);
    return { source: addresses.of(side), ...(number !== undefined && { sourceSet: number }) };
  };
  return {
    from,
    to(side) {
      const { source, sourceSet } = from(side);
      return { ...(source && { destination: source }), ...(sourceSet !== undefined && { destinationSet: sourceSet }) };
    },
  };
}

function isSamePart(left: FilterRule, right: FilterRule): boolean {
  return left.direction === right.direction && left.source === right.source && left.destination === right.destination;
}

/** One side of a packet rule; left out = any address. */
export type SidePart = Partial<Pick<FilterRule, "source" | "destination" | "sourceSet" | "destinationSet">>;

/** A rule as engines apply it to the addresses of one part. */
export function packetRule(
  rule: PolicyRule,
  part: SidePart & { readonly direction: FilterRule["direction"] },
): FilterRule {
  return {
    id: ruleNumber(rule),
    action: rule.action,
    direction: part.direction,
    protocol: rule.protocol === null ? null : PROTOCOL_NUMBERS[rule.protocol],
    source: part.source ?? null,
    destination: part.destination ?? null,
    ...(part.sourceSet !== undefined && { sourceSet: part.sourceSet }),
    ...(part.destinationSet !== undefined && { destinationSet: part.destinationSet }),
    ports: rule.ports,
    ...(rule.icmpType !== null && { icmp: { type: rule.icmpType, code: rule.icmpCode } }),
  };
}

/** True when address sets have the same of a peer before and after. */
function sameContribution(policy: AccessPolicy, before: Peer | undefined, after: Peer | undefined): boolean {
  const [old, fresh] = [before, after].map((peer) =>
    peer?.state === "active" ? `${policy.classOf(peer).number} ${addressesOf(peer).join()}` : "",
  );
  return old === fresh;
}

function intersects(left: ReadonlySet<number>, right: ReadonlySet<number>): boolean {
  for (const one of left) if (right.has(one)) return true;
  return false;
}

const PROTOCOL_NUMBERS = { icmp: 1, tcp: 6, udp: 17, icmpv6: 58, sctp: 132 } as const satisfies Record<
  PolicyProtocol,
  number
>;
