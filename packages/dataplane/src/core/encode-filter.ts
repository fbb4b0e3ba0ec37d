import {
  ANY_ADDRESS,
  FILTER_VERSION,
  PORT_RANGE_BYTES,
  PREFIX_BYTES,
  RULE_BYTES,
  type WireFilter,
  type WirePrefix,
  type WireRule,
} from "./engine-port.ts";

export function filterBytes({ sets, rules }: WireFilter): number {
  const setBytes = sets.reduce((sum, set) => sum + 4 + set.length * PREFIX_BYTES, 0);
  return 12 + setBytes + rules.reduce((sum, rule) => sum + ruleBytes(rule), 0);
}

/** Fields not written stay zero. */
export function writeFilter(body: DataView, { sets, rules }: WireFilter): void {
  body.setUint32(0, FILTER_VERSION, true);
  body.setUint32(4, sets.length, true);
  body.setUint32(8, rules.length, true);
  let at = 12;
  for (const set of sets) {
    body.setUint32(at, set.length, true);
    at += 4;
    for (const prefix of set) {
      writePrefix(body, at, prefix);
      at += PREFIX_BYTES;
    }
  }
  for (const rule of rules) {
    writeRule(body, at, rule);
    at += ruleBytes(rule);
  }
}

export function writePrefix(body: DataView, at: number, prefix: WirePrefix): void {
  body.setUint8(at, familyNumber(prefix.address));
  body.setUint8(at + 1, prefix.length);
  new Uint8Array(body.buffer, body.byteOffset, body.byteLength).set(prefix.address, at + 4);
}

export function familyNumber(address: Uint8Array): number {
  return address.length === 4 ? 4 : 6;
}

function writeRule(body: DataView, at: number, rule: WireRule): void {
  body.setUint32(at, rule.id, true);
  body.setUint8(at + 4, rule.action === "allow" ? 1 : 0);
  body.setUint8(at + 5, DIRECTION_NUMBERS[rule.direction]);
  body.setUint16(at + 6, rule.protocol === null ? 0 : rule.protocol + 1, true);
  body.setUint32(at + 8, rule.source ?? ANY_ADDRESS, true);
  body.setUint32(at + 12, rule.destination ?? ANY_ADDRESS, true);
  const code = rule.icmp?.code ?? null;
  const flags = [rule.replies === "judged" ? 1 : 0, rule.icmp ? 2 : 0, code === null ? 0 : 4];
  body.setUint8(
    at + 16,
    flags.reduce((sum, flag) => sum + flag, 0),
  );
  body.setUint8(at + 17, rule.icmp?.type ?? 0);
  body.setUint8(at + 18, code ?? 0);
  body.setUint16(at + 20, rule.ports.length, true);
  for (const [index, { low, high }] of rule.ports.entries()) {
    body.setUint16(at + RULE_BYTES + index * PORT_RANGE_BYTES, low, true);
    body.setUint16(at + RULE_BYTES + index * PORT_RANGE_BYTES + 2, high, true);
  }
}

function ruleBytes(rule: WireRule): number {
  return RULE_BYTES + rule.ports.length * PORT_RANGE_BYTES;
}

const DIRECTION_NUMBERS = { in: 1, out: 2, both: 3 } as const;
