import { describe, expect, test } from "vitest";

import { concealCommon } from "./compatibility.ts";
import { concealKeys } from "./keys.ts";
import { formatConcealLines, parseConcealLines } from "./lines.ts";
import { CONCEAL_PRESETS, type ConcealPreset, makeConceal } from "./presets.ts";
import { CONCEAL_SIGNATURES, concealInnerMtu, PLAIN_CONCEAL } from "./profile.ts";
import { concealAdvice } from "./rules.ts";
import { parseConcealTags } from "./tags.ts";

const DISGUISED = CONCEAL_PRESETS.filter((preset) => preset !== "off");

describe("presets", () => {
  test.each(DISGUISED)(
    "%s: whatever chance says, every rule holds, nothing is advised against, and keys read back",
    (preset) => {
      for (let seed = 0; seed < 150; seed += 1) {
        const profile = makeConceal(preset, chance(`${preset} ${seed}`));
        const again = parseConcealLines(formatConcealLines(profile));

        expect(again.ok && concealKeys(again.value)).toEqual(concealKeys(profile));
        expect(concealAdvice(profile)).toEqual([]);
        expect(concealInnerMtu(profile, { mtu: 1_500, family: 6 })).toBeGreaterThanOrEqual(1_280);
      }
    },
  );

  test.each(DISGUISED)("B-35 %s: no two installations have the same parameters", (preset) => {
    const all = Array.from({ length: 50 }, (_, seed) => makeConceal(preset, chance(`${preset} ${seed}`)));

    expect(new Set(all.map(concealCommon)).size).toBe(50);
  });

  test("off is plain WireGuard", () => {
    expect(makeConceal("off", chance("any"))).toBe(PLAIN_CONCEAL);
    expect(concealKeys(makeConceal("off", chance("any")))).toEqual([]);
  });

  test.each([
    { preset: "mimic-dns", from: 29, to: 37 },
    { preset: "mimic-quic", from: 1_199, to: 1_240 },
    { preset: "mimic-sip", from: 150, to: 260 },
  ] as const)("$preset: signature packets have lengths of that protocol", ({ preset, from, to }) => {
    for (const slot of signaturesOf(preset)) {
      const read = parseConcealTags(slot);
      expect(read.ok && read.value.portable).toBe(slot);
      expect(read.ok && read.value.bytes).toBeGreaterThanOrEqual(from);
      expect(read.ok && read.value.bytes).toBeLessThanOrEqual(to);
    }
  });

  test("two ends need the same paddings, types, header key and trailers, and nothing else", () => {
    const profile = makeConceal("strong", chance("one"));
    const own = {
      ...profile,
      jc: 12,
      jmax: 900,
      i3: "<r 9>",
      keepaliveTimeout: { low: 3, high: 4 },
      disableCookies: "on",
    } as const;

    expect(concealCommon(own)).toBe(concealCommon(profile));
    for (const change of [
      { s3: 99 },
      { h2: { low: 9, high: 9 } },
      { headerProtectionKey: null },
      { randomTrailers: "off" },
    ] as const) {
      expect(concealCommon({ ...profile, ...change })).not.toBe(concealCommon(profile));
    }
  });
});

function signaturesOf(preset: ConcealPreset): readonly string[] {
  return Array.from({ length: 40 }, (_, seed) => makeConceal(preset, chance(`${seed}`))).flatMap((profile) =>
    CONCEAL_SIGNATURES.map((slot) => profile[slot]).filter((slot) => slot !== ""),
  );
}

/** Bytes that look random and are the same for the same name. */
function chance(name: string): (byteCount: number) => Uint8Array {
  let state = Array.from(name).reduce((sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 0x0100_0193), 0x811c_9dc5);
  return (byteCount) =>
    Uint8Array.from({ length: byteCount }, () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return (state >>> 11) & 0xff;
    });
}
