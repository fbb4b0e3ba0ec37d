import { create, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";

import type { Prefix } from "../addresses.ts";
import type { AddressSet, AddressSetChange, FilterRule, IcmpMatch, PortRange } from "../network-map.ts";
import { AddressSetChangesSchema, type FilterRuleSchema, FilterRulesSchema } from "./agent_pb.ts";
import { packPrefixes, unpackPrefixes } from "./block.ts";
import { atMost, FieldError, oneOf, within, word } from "./checks.ts";

/** Rules with their address sets; each set travels once. */
export function filterToWire(rules: readonly FilterRule[]): MessageShape<typeof FilterRulesSchema> {
  if (rules.every(isPlain)) return create(FilterRulesSchema, { rules: rules.map(plainToWire) });
  const sets = collectSets();
  const setRules = rules.map((rule) => ({
    ...plainToWire(rule),
    sourceSetPlusOne: sets.placePlusOne(rule.source, rule.sourceSet),
    destinationSetPlusOne: sets.placePlusOne(rule.destination, rule.destinationSet),
    portBounds: rule.ports ? portBounds(rule.ports) : [],
    icmpTypePlusOne: rule.icmp ? rule.icmp.type + 1 : 0,
    icmpCodePlusOne: typeof rule.icmp?.code === "number" ? rule.icmp.code + 1 : 0,
    replies: rule.replies ?? "",
  }));
  const { counts, bytes } = packPrefixes(sets.all);
  const setNumbers = sets.numbers.some((number) => number !== 0) ? sets.numbers : [];
  return create(FilterRulesSchema, { setRules, setCounts: counts, setPrefixes: bytes, setNumbers });
}

export function filterFromWire(message: MessageShape<typeof FilterRulesSchema>): FilterRule[] {
  if (message.rules.length > 0 && message.setRules.length > 0) {
    throw new FieldError("filter", "rules of both kinds");
  }
  atMost("filter.sets", message.setCounts, FILTER_RULES_MAX);
  const block = { counts: message.setCounts, bytes: message.setPrefixes };
  const sets = unpackPrefixes("filter.sets", block, SET_PREFIXES_MAX);
  const { setNumbers } = message;
  if (setNumbers.length > 0 && setNumbers.length !== sets.length)
    throw new FieldError("filter.set_numbers", `${setNumbers.length} numbers of ${sets.length} sets`);
  const rules = message.setRules.length > 0 ? message.setRules : message.rules;
  return atMost("filter", rules, FILTER_RULES_MAX).map((rule) => {
    if (rule.source !== "" || rule.destination !== "" || rule.ports) {
      throw new FieldError("filter", "addresses and ports belong into the fields for sets");
    }
    const protocol = within("filter.protocol", rule.protocolPlusOne, { min: 0, max: 256 });
    const icmp = icmpFromWire(rule);
    return {
      id: rule.id,
      action: word("filter.action", rule.action, isAction),
      direction: word("filter.direction", rule.direction, isDirection),
      protocol: protocol === 0 ? null : protocol - 1,
      source: setAt("filter.source", sets, rule.sourceSetPlusOne),
      destination: setAt("filter.destination", sets, rule.destinationSetPlusOne),
      ...numbersOf(rule, setNumbers),
      ports: portsFromWire(rule.portBounds),
      ...(icmp ? { icmp } : {}),
      ...(rule.replies === "" ? {} : { replies: word("filter.replies", rule.replies, isReplies) }),
    };
  });
}

/** Changes of sets of the present filter. */
export function setChangesToWire(changes: readonly AddressSetChange[]): MessageShape<typeof AddressSetChangesSchema> {
  const added = packPrefixes(changes.map((change) => change.added));
  const removed = packPrefixes(changes.map((change) => change.removed));
  return create(AddressSetChangesSchema, {
    setNumbers: changes.map(({ set }) => set),
    addedCounts: added.counts,
    added: added.bytes,
    removedCounts: removed.counts,
    removed: removed.bytes,
  });
}

export function setChangesFromWire(message: MessageShape<typeof AddressSetChangesSchema>): AddressSetChange[] {
  const numbers = atMost("filter_sets", message.setNumbers, FILTER_RULES_MAX);
  if (new Set(numbers).size !== numbers.length || numbers.includes(0))
    throw new FieldError("filter_sets", "every change names a set of its own");
  const prefixes = (field: string, counts: number[], bytes: Uint8Array): Prefix[][] => {
    if (counts.length !== numbers.length)
      throw new FieldError(field, `${counts.length} rows of ${numbers.length} changes`);
    return unpackPrefixes(field, { counts, bytes }, SET_PREFIXES_MAX);
  };
  const added = prefixes("filter_sets.added", message.addedCounts, message.added);
  const removed = prefixes("filter_sets.removed", message.removedCounts, message.removed);
  return numbers.map((set, at) => ({ set, added: added[at] ?? [], removed: removed[at] ?? [] }));
}

type WireRule = MessageShape<typeof FilterRuleSchema>;

/** Nothing that an agent without sets would overlook. */
function isPlain(rule: FilterRule): boolean {
  return !rule.source && !rule.destination && !rule.ports && !rule.icmp && !rule.replies;
}

function plainToWire(rule: FilterRule): MessageInitShape<typeof FilterRuleSchema> {
  return {
    id: rule.id,
    action: rule.action,
    direction: rule.direction,
    protocolPlusOne: rule.protocol === null ? 0 : rule.protocol + 1,
  };
}

type CollectedSets = {
  readonly all: AddressSet[];
  /** Per set; 0 = none. */
  readonly numbers: number[];
  readonly placePlusOne: (set: AddressSet | null, number?: number) => number;
};

/** Sets of equal addresses travel once, unless they have numbers: those may differ at the next change. */
function collectSets(): CollectedSets {
  const [all, numbers]: [AddressSet[], number[]] = [[], []];
  const places = new Map<AddressSet, number>();
  const byContent = new Map<string, number>();
  return {
    all,
    numbers,
    placePlusOne(set, number = 0) {
      if (!set) return 0;
      const known = places.get(set);
      if (known !== undefined && numbers[known - 1] === number) return known;
      const content = `${number} ${set.join()}`;
      const place = byContent.get(content) ?? all.push(set);
      numbers[place - 1] = number;
      places.set(set, place);
      byContent.set(content, place);
      return place;
    },
  };
}

function numbersOf(rule: WireRule, setNumbers: readonly number[]): Pick<FilterRule, "sourceSet" | "destinationSet"> {
  const [source = 0, destination = 0] = [rule.sourceSetPlusOne, rule.destinationSetPlusOne].map(
    (place) => setNumbers[place - 1],
  );
  return {
    ...(source === 0 ? {} : { sourceSet: source }),
    ...(destination === 0 ? {} : { destinationSet: destination }),
  };
}

function setAt(field: string, sets: readonly AddressSet[], placePlusOne: number): AddressSet | null {
  if (placePlusOne === 0) return null;
  const set = sets[placePlusOne - 1];
  if (!set) throw new FieldError(field, `there is no set ${placePlusOne - 1}`);
  return set;
}

/** An empty list cannot be told from "any"; a range nobody is in says the same as an empty list. */
function portBounds(ports: readonly PortRange[]): number[] {
  if (ports.length === 0) throw new RangeError("a rule with a list of ports names one at least");
  return ports.flatMap(({ low, high }) => [low, high]);
}

function portsFromWire(bounds: readonly number[]): PortRange[] | null {
  if (bounds.length === 0) return null;
  if (bounds.length % 2 !== 0) throw new FieldError("filter.ports", "a low port without a high one");
  atMost("filter.ports", bounds, 2 * PORT_RANGES_MAX);
  return Array.from({ length: bounds.length / 2 }, (_, at) => {
    const low = within("filter.ports.low", bounds[2 * at] ?? 0, { min: 0, max: 65_535 });
    return { low, high: within("filter.ports.high", bounds[2 * at + 1] ?? 0, { min: low, max: 65_535 }) };
  });
}

function icmpFromWire(rule: WireRule): IcmpMatch | null {
  const type = within("filter.icmp.type", rule.icmpTypePlusOne, { min: 0, max: 256 });
  const code = within("filter.icmp.code", rule.icmpCodePlusOne, { min: 0, max: 256 });
  if (type === 0) {
    if (code !== 0) throw new FieldError("filter.icmp.code", "a code without a type");
    return null;
  }
  if (rule.portBounds.length > 0) throw new FieldError("filter.icmp.type", "ports and an ICMP type at once");
  return { type: type - 1, code: code === 0 ? null : code - 1 };
}

const isAction = oneOf(["allow", "deny"]);
const isDirection = oneOf(["in", "out", "both"]);
const isReplies = oneOf(["judged"]);

/** More rules than this in one map are refused. */
export const FILTER_RULES_MAX = 100_000;
/** Addresses of one set: every peer of the largest network, each with two addresses and some routes. */
export const SET_PREFIXES_MAX = 1_000_000;
/** Ranges of one rule. */
export const PORT_RANGES_MAX = 64;
