import { readFileSync, statSync, writeFileSync } from "node:fs";
import { LANES_MAX, type LinkProfile } from "@weft/protocol";
import { aPublicKey, mustBe } from "@weft/protocol/testing";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";

import { aStateDirectory } from "../testing/fixtures.ts";
import { loadProfileFile, saveProfileFile, type ProfileChange } from "./profile-file.ts";

let state: ReturnType<typeof aStateDirectory>;
beforeEach(() => (state = aStateDirectory()));
afterEach(() => state.remove());

const profile = (): fc.Arbitrary<LinkProfile> =>
  fc.record({
    revision: fc.nat(0xffff_ffff),
    cipher: fc.constantFrom("chacha20-poly1305" as const, "aes-256-gcm" as const),
    elision: fc.constantFrom("on" as const, "off" as const),
    lanes: fc.integer({ min: 1, max: LANES_MAX }),
  });
const change = (): fc.Arbitrary<ProfileChange> =>
  fc.record({ wanted: fc.option(profile()), before: fc.option(profile()) });

test("what was stored comes back, whatever the profiles are, and for nobody else to read", () => {
  const place = state.paths.profiles;
  fc.assert(
    fc.property(fc.array(change(), { maxLength: 20 }), (list) => {
      const changes = new Map(list.map((item, index) => [aPublicKey(index + 1), item]));

      mustBe(saveProfileFile(place, changes));

      expect(mustBe(loadProfileFile(place))).toEqual(changes);
    }),
    { numRuns: 50 },
  );
  expect(statSync(place).mode & 0o777).toBe(0o600);
});

test("without the file nothing is remembered", () => {
  expect(mustBe(loadProfileFile(state.paths.profiles)).size).toBe(0);
});

test("any cut is an error that names the file, and no changed byte makes it crash", () => {
  const place = state.paths.profiles;
  const wanted: LinkProfile = { revision: 1, cipher: "aes-256-gcm", elision: "on", lanes: 1 };
  mustBe(saveProfileFile(place, new Map([[aPublicKey(1), { wanted, before: null }]])));
  const whole = readFileSync(place);

  // The last byte is the end of the line.
  for (let length = 0; length < whole.length - 1; length += 1) {
    writeFileSync(place, whole.subarray(0, length));
    const loaded = loadProfileFile(place);
    expect(loaded, `${length} bytes`).toMatchObject({ ok: false, error: { code: "damaged" } });
    expect(loaded.ok ? "" : loaded.error.message).toContain(place);
  }
  for (let index = 0; index < whole.length; index += 1) {
    const changed = Buffer.from(whole);
    changed[index] = (changed[index] ?? 0) ^ 0x11;
    writeFileSync(place, changed);
    const loaded = loadProfileFile(place);
    if (!loaded.ok) expect(loaded.error.message).toContain(place);
  }
});

test.each([
  "null",
  "[]",
  '{"version":2,"peers":[]}',
  '{"version":1}',
  '{"version":1,"peers":[[]]}',
  '{"version":1,"peers":[["no key",null,null]]}',
  `{"version":1,"peers":[["${aPublicKey(1)}",null]]}`,
  `{"version":1,"peers":[["${aPublicKey(1)}",7,null]]}`,
  `{"version":1,"peers":[["${aPublicKey(1)}",null,"AAAA"]]}`,
])("%s is not taken", (text) => {
  writeFileSync(state.paths.profiles, text);

  expect(loadProfileFile(state.paths.profiles)).toMatchObject({ ok: false, error: { code: "damaged" } });
});
