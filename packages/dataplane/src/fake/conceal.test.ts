import { type ConcealProfile, formatConcealProblem, PLAIN_CONCEAL, setConcealKeys } from "@weft/protocol";
import { describe, expect, test } from "vitest";
import { createCommandWriter } from "../core/encode-commands.ts";
import { drawFrom, handshakeKind, stampType } from "../core/message-types.ts";
import { decodeCommands } from "./decode-commands.ts";

const BASE: Readonly<Record<string, string>> = {
  jc: "3",
  jmin: "10",
  jmax: "20",
  s1: "15",
  s2: "18",
  s3: "20",
  s4: "25",
  h1: "123456-123500",
  h2: "67543-67550",
  h3: "223344-223350",
  h4: "32345-32350",
  i2: "<b 0xdeadbeef><t>",
  i5: "<r 7>",
  content_padding_addition: "5-9",
  header_protection_key: "07".repeat(32),
  random_trailers: "1",
};

function profile(keys: Readonly<Record<string, string>> = BASE): ConcealProfile {
  const set = setConcealKeys(PLAIN_CONCEAL, Object.entries(keys));
  if (!set.ok) throw new Error(set.error.map(formatConcealProblem).join("\n"));
  return set.value;
}

describe("profiles on their way to the engine", () => {
  test("a record holds every field at its documented place", () => {
    const writer = createCommandWriter();
    writer.push({ kind: "set-conceal", disguise: { profile: profile(), seed: new Uint8Array(32).fill(9) } });

    expect(Buffer.from(writer.batch()).toString("hex")).toBe(
      [
        "11000000",
        "9c000000",
        "0100000001000000",
        "03000a0014000000",
        "0f00120014001900",
        "40e201006ce20100d7070100de070100",
        "7068030076680300597e00005e7e0000",
        "05000900",
        "07".repeat(32),
        "09".repeat(32),
        "0000",
        "1100" + Buffer.from("<b 0xdeadbeef><t>").toString("hex"),
        "00000000",
        "0500" + Buffer.from("<r 7>").toString("hex"),
      ].join(""),
    );
  });

  test("what is written reads back as it was, and null is an empty body", () => {
    const writer = createCommandWriter();
    const seed = new Uint8Array(32).fill(1);
    writer.push({ kind: "set-conceal", disguise: { profile: profile(), seed } });
    writer.push({ kind: "set-conceal", disguise: null });

    const [first, second] = decodeCommands(writer.batch());

    expect(first).toMatchObject({
      kind: "set-conceal",
      disguise: { seed, profile: { s4: 25, i5: "<r 7>", h1: { low: 123_456 } } },
    });
    expect(second).toEqual({ kind: "set-conceal", disguise: null });
  });

  test("WIR-02 WIR-07 a message gets a type of its kind, and every number of a range comes up", () => {
    let next = 0;
    const random = (count: number): Uint8Array =>
      Uint8Array.from({ length: count }, () => (next = (next * 73 + 41) % 251));
    const types = new Set<number>();
    for (let round = 0; round < 500; round += 1) {
      const message = stampType(new Uint8Array(92), profile(), random);
      expect(handshakeKind(message, profile())).toBe("response");
      types.add(new DataView(message.buffer).getUint32(0, true));
    }

    expect([...types].toSorted((left, right) => left - right)).toEqual([
      67_543, 67_544, 67_545, 67_546, 67_547, 67_548, 67_549, 67_550,
    ]);
  });

  test("B-18 a draw over the full range neither fails nor favours one end", () => {
    const draws = [0, 1, 0x7fff_ffff, 0xffff_ffff].map((value) => {
      const bytes = new Uint8Array(4);
      new DataView(bytes.buffer).setUint32(0, value, true);
      return drawFrom({ low: 0, high: 0xffff_ffff }, () => bytes);
    });

    expect(draws).toEqual([0, 1, 0x7fff_ffff, 0xffff_ffff]);
  });

  test("WIR-07 a number that would favour the low end is drawn again", () => {
    const values = [0xffff_ffff, 5];
    const drawn = drawFrom({ low: 10, high: 12 }, () => {
      const bytes = new Uint8Array(4);
      new DataView(bytes.buffer).setUint32(0, values.shift() ?? 0, true);
      return bytes;
    });

    expect(values).toHaveLength(0);
    expect(drawn).toBe(12);
  });
});
