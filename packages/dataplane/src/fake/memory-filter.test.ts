import { describe, expect, test } from "vitest";
import type { WireRule } from "../core/engine-port.ts";
import type { InnerPacket } from "./inner-packet.ts";
import { createMemoryFilter } from "./memory-filter.ts";

describe("rules in memory, about fragments", () => {
  test("one that was sent opens nothing for fragments that come back", () => {
    const { passes } = filterOf([{ ...ALLOW, direction: "out" }]);
    for (const protocol of [6, 17, 1, 58]) {
      expect(passes(fragment(protocol), "out")).toBe(true);
      expect(passes(back(fragment(protocol)), "in")).toBe(false);
      expect(passes(fragment(protocol), "out")).toBe(true);
    }
  });

  test("answers of a protocol without ports pass", () => {
    const { passes } = filterOf([{ ...ALLOW, direction: "out" }]);
    expect(passes(fragment(47), "out")).toBe(true);
    expect(passes(back(fragment(47)), "in")).toBe(true);
  });

  test("they meet what denies some ports or types of their protocol", () => {
    const ports = filterOf([{ ...ALLOW, id: 2, action: "deny", ports: [{ low: 22, high: 22 }] }, ALLOW]);
    const types = filterOf([{ ...ALLOW, id: 2, action: "deny", icmp: { type: 5, code: null } }, ALLOW]);
    expect([6, 17, 1, 58, 47].map((protocol) => ports.passes(fragment(protocol), "in"))).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
    expect([6, 17, 1, 58, 47].map((protocol) => types.passes(fragment(protocol), "in"))).toEqual([
      true,
      true,
      false,
      false,
      true,
    ]);
  });

  test("a rule that allows some ports lets none pass", () => {
    const { passes } = filterOf([{ ...ALLOW, ports: [{ low: 0, high: 65_535 }] }]);
    expect(passes(fragment(17), "in")).toBe(false);
  });
});

const ALLOW: WireRule = {
  id: 1,
  action: "allow",
  direction: "both",
  protocol: null,
  source: null,
  destination: null,
  ports: [],
  icmp: null,
  replies: "pass",
};

function filterOf(rules: readonly WireRule[]): {
  readonly passes: (packet: InnerPacket, direction: "in" | "out") => boolean;
} {
  const filter = createMemoryFilter();
  filter.replace({ sets: [], rules });
  return {
    passes: (packet, direction) => filter.passes(packet, { direction, slot: 0, bytes: 40, nowMs: 1_000 }),
  };
}

function fragment(protocol: number): InnerPacket {
  return {
    source: new Uint8Array([10, 0, 0, 1]),
    destination: new Uint8Array([10, 0, 0, 2]),
    protocol,
    ports: null,
    icmp: null,
  };
}

function back(packet: InnerPacket): InnerPacket {
  return { ...packet, source: packet.destination, destination: packet.source };
}
