import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { aSelf } from "@weft/protocol/testing";
import { afterAll, describe, expect, test } from "vitest";

import { tunnelSelf } from "../daemon/map-to-tunnel.ts";
import { concealSetting } from "./conceal.ts";

const folder = mkdtempSync(join(tmpdir(), "weft-conceal-"));
afterAll(() => rmSync(folder, { recursive: true }));

function settingOf(text: string) {
  const path = join(folder, "conceal.conf");
  writeFileSync(path, text);
  return concealSetting({ WEFT_CONCEAL: path });
}

describe("WEFT_CONCEAL", () => {
  test("unset is plain WireGuard", () => {
    expect(concealSetting({})).toEqual({ ok: true, value: null });
    expect(concealSetting({ WEFT_CONCEAL: "" })).toEqual({ ok: true, value: null });
  });

  test("takes the keys that disguise from a file and leaves the rest, with a word about what it leaves", () => {
    const setting = settingOf("[Interface]\nPrivateKey = x\nS4 = 25\nJ1 = <r 1>\n[Peer]\nPublicKey = y\n");

    expect(setting).toMatchObject({ ok: true, value: { profile: { s4: 25 } } });
    expect(setting.ok && setting.value?.advice).toHaveLength(1);
  });

  test("a file that is not there or wrong ends the start with what is wrong", () => {
    expect(concealSetting({ WEFT_CONCEAL: join(folder, "none") })).toMatchObject({
      ok: false,
      error: { code: "bad_environment" },
    });
    const wrong = settingOf("[Interface]\nJc = 500\nS1 = -1\n");
    expect(wrong.ok || wrong.error.message).toContain("jc = 500: must be a whole number from 0 to 128; s1 = -1:");
  });
});

describe("the MTU under a profile", () => {
  test.each([
    { name: "leaves room for the padding", mtu: 1_420, s4: 25, expected: 1_395 },
    { name: "stays what IPv6 needs", mtu: 1_300, s4: 100, expected: 1_280 },
    { name: "is not raised", mtu: 1_200, s4: 25, expected: 1_200 },
    { name: "is that of the map without one", mtu: 1_420, s4: 0, expected: 1_420 },
  ])("$name", ({ mtu, s4, expected }) => {
    expect(tunnelSelf(aSelf({ mtu }), { paddingBytes: s4 }).mtu).toBe(expected);
  });
});
