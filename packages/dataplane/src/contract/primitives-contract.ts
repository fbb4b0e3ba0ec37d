import { expect, test } from "vitest";
import { asciiBytes } from "../core/handshake/bytes.ts";
import type { Primitives } from "../core/handshake/primitives.ts";

/** Known answers and refusals every implementation of the primitives owes the handshake. */
export function primitivesContract(primitives: Primitives): void {
  test("hashes the example of RFC 7693, in one part or in two", () => {
    const digest = "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982";

    expect(hex(primitives.hash(asciiBytes("abc"), NOTHING))).toBe(digest);
    expect(hex(primitives.hash(asciiBytes("a"), asciiBytes("bc")))).toBe(digest);
  });

  test.each([
    { name: "nothing, key of 32 bytes", data: NOTHING, keyBytes: 32, expected: "9536f9b267655743dee97b8a670f9f53" },
    {
      name: "text, key of 16 bytes",
      data: asciiBytes("abc"),
      keyBytes: 16,
      expected: "75296c2d2c0f51210b383f386bc8b1ff",
    },
    { name: "three blocks", data: counting(132), keyBytes: 32, expected: "6d19534b4c332741c8ddd79a9644de2d" },
  ])("computes the keyed hash: $name", ({ data, keyBytes, expected }) => {
    expect(hex(primitives.mac(counting(keyBytes), data))).toBe(expected);
  });

  test("computes HMAC-BLAKE2s, in one part or in two", () => {
    const expected = "1ef2d7815adf4d6574d350f506c50442eda2fe590df41df56f470a9e0b6413d4";

    expect(hex(primitives.hmac(counting(32), asciiBytes("abcdef"), NOTHING))).toBe(expected);
    expect(hex(primitives.hmac(counting(32), asciiBytes("abc"), asciiBytes("def")))).toBe(expected);
  });

  test("derives the public keys and the shared secret of RFC 7748", () => {
    const alice = primitives.importPrivateKey(fromHex(ALICE_PRIVATE));
    const bob = primitives.importPrivateKey(fromHex(BOB_PRIVATE));

    expect(hex(alice.publicKey.bytes)).toBe("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
    expect(hex(bob.publicKey.bytes)).toBe("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    expect(hex(alice.agree(bob.publicKey) ?? NOTHING)).toBe(SHARED);
    expect(hex(bob.agree(alice.publicKey) ?? NOTHING)).toBe(SHARED);
  });

  test.each([
    "00".repeat(32),
    `01${"00".repeat(31)}`,
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
  ])("refuses to agree with the low-order key %s", (lowOrder) => {
    const key = primitives.importPrivateKey(fromHex(ALICE_PRIVATE));

    expect(key.agree(primitives.importPublicKey(fromHex(lowOrder)))).toBeNull();
  });

  test("seals the example of RFC 8439", () => {
    const box = {
      key: Uint8Array.from({ length: 32 }, (_, index) => 0x80 + index),
      nonce: fromHex("070000004041424344454647"),
      text: asciiBytes(SUNSCREEN),
      associated: fromHex("50515253c0c1c2c3c4c5c6c7"),
    };

    const sealed = primitives.seal(box);

    expect(hex(sealed.subarray(0, 16))).toBe("d31a8d34648e60db7b86afbc53ef7ec2");
    expect(hex(sealed.subarray(-16))).toBe("1ae10b594f09e26a7e902ecbd0600691");
    expect(hex(primitives.open({ ...box, text: sealed }) ?? NOTHING)).toBe(hex(box.text));
  });

  test("seals the example of the XChaCha draft", () => {
    const box = {
      key: Uint8Array.from({ length: 32 }, (_, index) => 0x80 + index),
      nonce: Uint8Array.from({ length: 24 }, (_, index) => 0x40 + index),
      text: asciiBytes(SUNSCREEN),
      associated: fromHex("50515253c0c1c2c3c4c5c6c7"),
    };

    const sealed = primitives.sealExtended(box);

    expect(hex(sealed.subarray(0, 16))).toBe("bd6d179d3e83d43b9576579493c0e939");
    expect(hex(sealed.subarray(-16))).toBe("c0875924c1c7987947deafd8780acf49");
    expect(hex(primitives.openExtended({ ...box, text: sealed }) ?? NOTHING)).toBe(hex(box.text));
  });

  test("opens nothing that was changed anywhere, and nothing shorter than a tag", () => {
    const box = { key: counting(32), nonce: counting(12), text: counting(5), associated: counting(3) };
    const wide = { ...box, nonce: counting(24) };

    for (const [sealed, open, from] of [
      [primitives.seal(box), primitives.open, box],
      [primitives.sealExtended(wide), primitives.openExtended, wide],
    ] as const) {
      for (let index = 0; index < sealed.length; index += 1) {
        const changed = sealed.with(index, (sealed[index] ?? 0) ^ 1);
        expect(open({ ...from, text: changed })).toBeNull();
      }
      expect(open({ ...from, text: sealed, associated: counting(4) })).toBeNull();
      expect(open({ ...from, text: sealed.subarray(0, 15) })).toBeNull();
    }
  });

  test("keeps its own copy of imported keys", () => {
    const bob = primitives.importPrivateKey(fromHex(BOB_PRIVATE));

    for (const bytes of [fromHex(ALICE_PRIVATE), Buffer.from(ALICE_PRIVATE, "hex")]) {
      const alice = primitives.importPrivateKey(bytes);
      const publicBytes = Buffer.from(bob.publicKey.bytes);
      const imported = primitives.importPublicKey(publicBytes);
      bytes.fill(0);
      publicBytes.fill(0);

      expect(hex(alice.agree(imported) ?? NOTHING)).toBe(SHARED);
      expect(hex(imported.bytes)).toBe(hex(bob.publicKey.bytes));
    }
  });
}

function counting(byteCount: number): Uint8Array {
  return Uint8Array.from({ length: byteCount }, (_, index) => index);
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const NOTHING = new Uint8Array(0);
const ALICE_PRIVATE = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";
const BOB_PRIVATE = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";
const SHARED = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
const SUNSCREEN =
  "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
