import { expect, test } from "vitest";
import { chooseCipher, type CipherSpeed, profileCapabilities } from "./cipher-choice.ts";

const speeds = (aes: number, hasInstructions = true): readonly CipherSpeed[] => [
  { cipher: "chacha20-poly1305", nanoseconds: 1_200, packetBytes: 1_420, hasInstructions: true },
  { cipher: "aes-256-gcm", nanoseconds: aes, packetBytes: 1_420, hasInstructions },
];

test.each([
  { name: "clearly faster", wish: "auto", measured: speeds(400), offered: "aes-256-gcm" },
  { name: "at the margin", wish: "auto", measured: speeds(1_000), offered: "aes-256-gcm" },
  { name: "faster by less than the margin", wish: "auto", measured: speeds(1_001), offered: "chacha20-poly1305" },
  { name: "slower", wish: "auto", measured: speeds(3_000), offered: "chacha20-poly1305" },
  { name: "fast without instructions", wish: "auto", measured: speeds(100, false), offered: "chacha20-poly1305" },
  { name: "not measured", wish: "auto", measured: [], offered: "chacha20-poly1305" },
  { name: "slower but asked for", wish: "aes-256-gcm", measured: speeds(3_000), offered: "aes-256-gcm" },
  { name: "faster but not asked for", wish: "chacha20", measured: speeds(400), offered: "chacha20-poly1305" },
] as const)("with AES-256-GCM $name, $offered is offered", ({ wish, measured, offered }) => {
  expect(chooseCipher(wish, measured).offered).toBe(offered);
});

test("the reason carries both figures", () => {
  expect(chooseCipher("auto", speeds(401.6)).reason).toContain("402 against 1200 ns for 1420 bytes");
});

test("a node announces what it offers and what is not switched off", () => {
  const aes = chooseCipher("aes-256-gcm", []);
  const chacha = chooseCipher("chacha20", []);

  expect(profileCapabilities({ cipher: aes, checksumElision: "auto" })).toEqual(["cipher.aes-256-gcm", "elide"]);
  expect(profileCapabilities({ cipher: chacha, checksumElision: "off" })).toEqual([]);
  const lanes = (offered: number) => ({ offered, reason: "a test" });
  expect(profileCapabilities({ cipher: chacha, checksumElision: "off", lanes: lanes(4) })).toEqual(["lanes.4"]);
  expect(profileCapabilities({ cipher: chacha, checksumElision: "off", lanes: lanes(1) })).toEqual([]);
});
