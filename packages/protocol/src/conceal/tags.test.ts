import { describe, expect, test } from "vitest";

import { parseConcealTags } from "./tags.ts";

function bytesOf(text: string): number {
  const tags = parseConcealTags(text);
  return tags.ok ? tags.value.bytes : -1;
}

describe("tags of signature packets", () => {
  test.each([
    ["<b 0xdeadBEEF>", 4],
    ["<b 00ff>", 2],
    ["<t>", 4],
    ["<t ignored>", 4],
    ["<d><ds>", 0],
    ["<dz 3>", 3],
    ["a<b 01>b<b\t 0x02  more words>c", 2],
    ["< b 0x01>", 1],
    ["<r 1000><rd 5><rc 7>", 1_012],
    ["<r 65507>", 65_507],
    ["", 0],
    ["text", 0],
  ])("%s makes %i bytes", (text, bytes) => {
    expect(bytesOf(text)).toBe(bytes);
  });

  test("TAG-01 all errors of a value are reported together", () => {
    const tags = parseConcealTags("<x 1><><r><rd two><b 0x123><b>and <rc 4");

    expect(tags.ok || tags.error).toEqual([
      "<x> is no tag: use b, r, rd, rc, t, d, ds or dz",
      "<> holds no tag",
      "<r> needs an argument",
      "<rd two>: the argument must be 0 to 65507",
      "<b 0x123>: the argument must be an even number of hex digits, at least 2, with or without 0x",
      "<b> needs an argument",
      "the < at position 34 is never closed by >",
    ]);
  });

  test.each(["<r -1>", "<rc +5>", "<rd 0x10>", "<dz 65508>", "<r 65507><b 00>", "<b 0X01>", "<b 0x>", "<b 0xg0>"])(
    "TAG-02 B-11 %s is refused",
    (text) => {
      expect(parseConcealTags(text).ok).toBe(false);
    },
  );

  test.each(["<c>", "<wt 100>"])("TAG-03 B-14 %s belongs to other versions", (text) => {
    const tags = parseConcealTags(text);

    expect(tags.ok || tags.error).toEqual([expect.stringContaining("belongs to other versions")]);
  });

  test.each([
    ["x<b  DEAD><d><r   7>", "<b 0xdead><r 7>"],
    ["<rd 3><rc 3><t 9>", "<rd 3><rc 3><t>"],
    ["<dz 2><ds>", "<b 0x0000>"],
  ])("TAG-06 %s is written in the portable form", (text, portable) => {
    const tags = parseConcealTags(text);

    expect(tags.ok && tags.value.portable).toBe(portable);
    expect(bytesOf(portable)).toBe(bytesOf(text));
  });
});
