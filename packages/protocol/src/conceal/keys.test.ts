import { describe, expect, test } from "vitest";

import { Secret } from "../secret.ts";
import { concealKeys, setConcealKeys } from "./keys.ts";
import { concealInnerMtu, type ConcealProfile, PLAIN_CONCEAL } from "./profile.ts";
import { concealAdvice, formatConcealProblem } from "./rules.ts";

type Lines = Record<string, string>;

function made(lines: Lines, from: ConcealProfile = PLAIN_CONCEAL): ConcealProfile {
  const set = setConcealKeys(from, Object.entries(lines));
  if (!set.ok) throw new Error(set.error.map(formatConcealProblem).join("\n"));
  return set.value;
}

/** The keys that are wrong, each with its rule. */
function refused(lines: Lines, from: ConcealProfile = PLAIN_CONCEAL): Record<string, string> {
  const set = setConcealKeys(from, Object.entries(lines));
  return set.ok ? {} : Object.fromEntries(set.error.map(({ key, rule }) => [key, rule]));
}

const BASE: Lines = {
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
};

describe("conceal keys", () => {
  test("CFG-01 B-19 a set counts as a whole: an error names key, value and rule, and the old values stay", () => {
    const before = made(BASE);

    const set = setConcealKeys(before, [
      ["s1", "40"],
      ["h1", "67550-67600"],
    ]);

    expect(set).toEqual({
      ok: false,
      error: [
        {
          key: "h1",
          value: "67550-67600",
          rule: "has numbers in common with h2 (67543-67550); the four ranges must be disjoint, defaults included",
        },
      ],
    });
    expect(Object.fromEntries(concealKeys(before))).toEqual(BASE);
  });

  test("CFG-02 B-32 the order of keys inside a set never matters", () => {
    const key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    const entries = Object.entries({ header_protection_key: key, s1: "12", s2: "12", s3: "12", s4: "12" });

    for (const lines of [entries, entries.toReversed()]) {
      const set = setConcealKeys(PLAIN_CONCEAL, lines);
      expect(set.ok && Object.fromEntries(concealKeys(set.value))).toEqual(Object.fromEntries(entries));
    }
  });

  test("CFG-03 every key can be reset to its default", () => {
    const full = made({ ...BASE, i1: "<r 3>", random_trailers: "1", disable_cookies: "t", rekey_timeout: "4-6" });
    const defaults = { jc: "0", i1: "", random_trailers: "0", disable_cookies: "F", rekey_timeout: "0-0" };
    const reset = made({ ...defaults, s1: "0", s2: "0", s3: "0", s4: "0", h1: "1", h2: "2", h3: "3", h4: "4" }, full);

    expect(Object.fromEntries(concealKeys(reset))).toEqual({ jmin: "10", jmax: "20" });
  });

  test.each([
    ["CFG-04 jc without lengths", { jc: "3" }, ["jmin"]],
    ["CFG-04 jc without jmax", { jc: "3", jmin: "5" }, ["jmax"]],
    ["CFG-04 B-10 jmin above jmax", { jc: "3", jmin: "50", jmax: "40" }, ["jmin"]],
    ["jc above 128", { jc: "129", jmin: "1", jmax: "1" }, ["jc"]],
    ["CFG-05 B-21 a range of junk", { jc: "4-8", jmin: "1", jmax: "1" }, ["jc"]],
    ["CFG-06 s1 above what a datagram has room for", { s1: "65360" }, ["s1"]],
    ["s2 to s4 above it", { s2: "65416", s3: "65444", s4: "65476" }, ["s2", "s3", "s4"]],
    ["CFG-09 a sign, a space, hex, an empty side, a third part", { h1: "+7" }, ["h1"]],
    ["CFG-09 a space", { h1: "7 " }, ["h1"]],
    ["CFG-09 hex", { h1: "0x7" }, ["h1"]],
    ["CFG-09 an empty side", { h1: "7-" }, ["h1"]],
    ["CFG-09 a third part", { h1: "7-8-9" }, ["h1"]],
    ["CFG-09 a reversed range", { h1: "9-7" }, ["h1"]],
    ["CFG-09 more than 32 bits", { h1: "4294967296" }, ["h1"]],
    ["CFG-10 h1 on the default of h2", { h1: "2" }, ["h1"]],
    ["CFG-10 B-17 two wide ranges", { h1: "100-5000", h2: "4000-9000" }, ["h1"]],
    ["B-18 the full range", { h1: "0-4294967295" }, ["h1"]],
    ["CFG-12 B-12 a signature that fits no datagram", { i1: "<r 100000>" }, ["i1"]],
    ["B-11 a negative count", { i1: "<rc -1>" }, ["i1"]],
    ["B-14 a tag of another version", { i1: "<b 0x01><c>" }, ["i1"]],
    ["CFG-13 a word instead of a range", { rekey_timeout: "(off)" }, ["rekey_timeout"]],
    ["CFG-14 a word of .conf", { random_trailers: "on" }, ["random_trailers"]],
    ["CFG-14 another number", { random_trailers: "2" }, ["random_trailers"]],
    ["CFG-15 keys of other versions", { j1: "<r 1>", itime: "5", i6: "<r 1>" }, ["j1", "itime", "i6"]],
    ["CFG-15 an unknown key", { nonsense: "1" }, ["nonsense"]],
    ["a content padding above 16 bits", { content_padding_addition: "1-65536" }, ["content_padding_addition"]],
    ["a key of the wrong length", { header_protection_key: "00" }, ["header_protection_key"]],
  ])("%s is refused", (_name, lines, keys) => {
    expect(Object.keys(refused(lines))).toEqual(keys);
  });

  test.each([
    ["CFG-05 one length", { jc: "1", jmin: "40", jmax: "40" }],
    ["CFG-06 the longest paddings", { s1: "65359", s2: "65415", s3: "65443", s4: "65475" }],
    ["CFG-07 equal padded sizes", { s1: "15", s2: "71" }],
    ["CFG-09 CFG-10 types that change places", { h1: "2", h2: "1" }],
    ["CFG-09 a type of zero", { h1: "0" }],
    ["CFG-11 B-15 only the second slot", { i2: "<b 0x01>" }],
    ["CFG-13 one number", { keepalive_timeout: "7" }],
  ])("%s is accepted and shown as it was set", (_name, lines) => {
    expect(Object.fromEntries(concealKeys(made(lines)))).toEqual(lines);
  });

  test("CFG-08 B-32 with header protection every padding is at least 12 and the error says so", () => {
    const key = "01".repeat(32);

    expect(refused({ ...BASE, s3: "11", header_protection_key: key })).toEqual({
      s3: "must be ≥ 12 with a header protection key",
    });
    expect(refused({ header_protection_key: "00".repeat(32) })).toEqual({});
  });

  test("CFG-11 B-13 a value without tags clears its slot", () => {
    const before = made({ i1: "<r 5>", i2: "<r 6>" });

    expect(made({ i1: "" }, before)).toMatchObject({ i1: "", i2: "<r 6>" });
    expect(made({ i1: "text" }, before).i1).toBe("");
  });

  test.each(["1", "t", "T", "TRUE", "true", "True"])("CFG-14 %s switches on and its opposite off", (word) => {
    const opposite = { "1": "0", t: "f", T: "F", TRUE: "FALSE", true: "false", True: "False" }[word] ?? "";
    const on = made({ random_trailers: word });

    expect(on.randomTrailers).toBe("on");
    expect(made({ random_trailers: opposite }, on).randomTrailers).toBe("off");
  });

  test("messages name the key and the allowed range, and never the header key", () => {
    const set = setConcealKeys(PLAIN_CONCEAL, [
      ["jc", "500"],
      ["s4", "x"],
      ["header_protection_key", "topsecret"],
    ]);

    expect(set.ok || set.error.map(formatConcealProblem)).toEqual([
      "jc = 500: must be a whole number from 0 to 128",
      "s4 = x: must be a whole number from 0 to 65475",
      "header_protection_key = [secret]: must be 64 hex digits",
    ]);
  });

  test("the MTU inside is what the path leaves beside the padding", () => {
    const profile = made({ s4: "25" });

    expect(concealInnerMtu(profile, { mtu: 1_500, family: 6 })).toBe(1_395);
    expect(concealInnerMtu(profile, { mtu: 1_500, family: 4 })).toBe(1_415);
  });

  test("B-35 advice is given, not enforced, and a fixed signature is among it", () => {
    const profile = made({
      ...BASE,
      jmax: "2000",
      i1: "<b 0x0102>",
      random_trailers: "1",
      header_protection_key: "01".repeat(32),
    });

    expect(concealAdvice(profile)).toHaveLength(5);
    expect(concealAdvice(PLAIN_CONCEAL)).toEqual([]);
    expect(profile.headerProtectionKey).toBeInstanceOf(Secret);
  });
});
