import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { equalBytes, fromBase64, fromBase64Url, toBase64, toBase64Url, toHex } from "./bytes.ts";
import { peerIds, networkIds } from "./ids.ts";
import { isPublicKey, keyBytes, parsePublicKey, publicKeyFromBytes, serverKeyFromPin, serverKeyToPin } from "./keys.ts";
import { isPeerName, isTitle, peerNameFrom } from "./names.ts";
import { Secret } from "./secret.ts";
import { aServerKey, countingRandom, mustBe } from "./testing/index.ts";
import { formatJoinKey, makeToken, parseJoinKey, parseToken } from "./tokens.ts";
import { compareVersions } from "./version.ts";

const bytes = fc.uint8Array({ maxLength: 100 });

describe("base64", () => {
  test("both forms survive both ways", () => {
    fc.assert(
      fc.property(bytes, (input) => {
        expect(mustBe(fromBase64(toBase64(input)))).toEqual(input);
        expect(mustBe(fromBase64Url(toBase64Url(input)))).toEqual(input);
      }),
    );
  });

  test("what is accepted is canonical", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."A B a b 0 1 + / - _ =".split(" ")) }), (text) => {
        const decoded = fromBase64(text);
        if (decoded.ok) expect(toBase64(decoded.value)).toBe(text);
        const decodedUrl = fromBase64Url(text);
        if (decodedUrl.ok) expect(toBase64Url(decodedUrl.value)).toBe(text);
      }),
    );
  });

  test("agrees with known values", () => {
    expect(toBase64(Uint8Array.of(0xfb, 0xff))).toBe("+/8=");
    expect(toBase64Url(Uint8Array.of(0xfb, 0xff))).toBe("-_8");
    expect(toHex(Uint8Array.of(0, 15, 255))).toBe("000fff");
  });

  test("bytes are compared by content", () => {
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(true);
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toBe(false);
    expect(equalBytes(Uint8Array.of(1), Uint8Array.of(1, 2))).toBe(false);
  });
});

describe("ids", () => {
  test("16 bytes survive the way through the text", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (input) => {
        const id = mustBe(peerIds.fromBytes(input));
        expect(id).toMatch(/^peer_[0-9a-z]{26}$/);
        expect(mustBe(peerIds.parse(id))).toBe(id);
        expect(peerIds.toBytes(id)).toEqual(input);
      }),
    );
  });

  test("CP-ID4 only one text stands for an id", () => {
    const id = peerIds.make(countingRandom(1));

    expect(peerIds.parse(id.toUpperCase()).ok).toBe(false);
    expect(peerIds.parse(`${id.slice(0, -1)}1`).ok).toBe(false);
    expect(peerIds.parse(`${id}0`).ok).toBe(false);
    expect(networkIds.parse(id).ok).toBe(false);
    expect(peerIds.fromBytes(new Uint8Array(15)).ok).toBe(false);
  });
});

describe("keys", () => {
  test("32 bytes survive both ways", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (input) => {
        expect(keyBytes(mustBe(publicKeyFromBytes(input)))).toEqual(input);
      }),
    );
  });

  test.each([
    { name: "31 bytes", text: toBase64(new Uint8Array(31)) },
    { name: "33 bytes", text: toBase64(new Uint8Array(33)) },
    { name: "set bits behind the last byte", text: `${"A".repeat(42)}B=` },
    { name: "no padding", text: "A".repeat(43) },
    { name: "URL digits", text: `${"-".repeat(42)}A=` },
  ])("CP-ID4 refuses $name", ({ text }) => {
    expect(parsePublicKey(text).ok).toBe(false);
    expect(isPublicKey(text)).toBe(false);
  });

  test("a pin is the same key in another form", () => {
    const key = aServerKey(3);

    expect(serverKeyToPin(key)).toHaveLength(43);
    expect(mustBe(serverKeyFromPin(serverKeyToPin(key)))).toBe(key);
    expect(serverKeyFromPin("short").ok).toBe(false);
  });
});

describe("tokens", () => {
  test("a made token parses as its kind", () => {
    for (const kind of ["pat", "svc", "enr"] as const) {
      const token = makeToken(kind, countingRandom(kind.length)).expose();
      expect(token).toMatch(new RegExp(`^weft_${kind}_[0-9A-Za-z]{36}$`));
      expect(mustBe(parseToken(token))).toBe(kind);
    }
  });

  test("one wrong character is noticed", () => {
    const token = makeToken("pat", countingRandom(5)).expose();
    for (let index = "weft_pat_".length; index < token.length; index += 1) {
      const changed = token.slice(0, index) + (token[index] === "a" ? "b" : "a") + token.slice(index + 1);
      expect(parseToken(changed).ok).toBe(false);
    }
  });

  test("digits are spread over the whole alphabet", () => {
    const seen = new Set(
      Array.from({ length: 200 }, (_, seed) =>
        makeToken("pat", countingRandom(seed)).expose().slice(9, 39).split(""),
      ).flat(),
    );
    expect(seen.size).toBe(62);
  });

  test("a join key carries the secret and the pin", () => {
    const secret = makeToken("enr", countingRandom(8));
    const parsed = mustBe(parseJoinKey(formatJoinKey(secret, aServerKey(2))));

    expect(parsed.secret.expose()).toBe(secret.expose());
    expect(parsed.serverKey).toBe(aServerKey(2));
  });

  test("a join key of another kind, without a pin, or with more behind it is refused", () => {
    const secret = makeToken("enr", countingRandom(8));
    const line = formatJoinKey(secret, aServerKey(2));

    expect(parseJoinKey(formatJoinKey(makeToken("pat", countingRandom(8)), aServerKey(2)))).toMatchObject({
      error: { code: "token_kind" },
    });
    expect(parseJoinKey(secret.expose()).ok).toBe(false);
    expect(parseJoinKey(`${line}.x`).ok).toBe(false);
    expect(parseJoinKey(line.slice(0, -1)).ok).toBe(false);
    expect(parseJoinKey("").ok).toBe(false);
  });
});

describe("names", () => {
  test.each([
    ["Web-1.example.com", "web-1"],
    ["Straße", "stra-e"],
    ["Café Nord", "cafe-nord"],
    ["日本", "node"],
    ["--", "node"],
    ["a".repeat(80), "a".repeat(63)],
  ])("host name %s becomes %s", (hostname, name) => {
    expect(peerNameFrom(hostname)).toBe(name);
    expect(isPeerName(name)).toBe(true);
  });

  test("every host name becomes a name", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (hostname) => isPeerName(peerNameFrom(hostname))));
  });

  test.each(["", "-a", "a-", "A", "a.b", "a_b", "a".repeat(64), "a\n"])("%j is no name", (name) => {
    expect(isPeerName(name)).toBe(false);
  });

  test("a title has no control characters and no space at its ends", () => {
    expect(isTitle("Büro Köln")).toBe(true);
    expect(isTitle(" x")).toBe(false);
    expect(isTitle("a\u0007b")).toBe(false);
    expect(isTitle("")).toBe(false);
  });
});

describe("secrets", () => {
  test("SEC-53 a secret shows a placeholder however it is printed", () => {
    const secret = new Secret("hunter2");

    expect(`${secret}`).toBe("[secret]");
    expect(JSON.stringify({ secret })).toBe('{"secret":"[secret]"}');
    expect(formatWithInspectHook(secret)).toBe("[secret]");
    expect(secret.expose()).toBe("hunter2");
  });
});

describe("versions", () => {
  test.each([
    { agent: 1, verdict: "agent_too_old" },
    { agent: 2, verdict: "ok" },
    { agent: 4, verdict: "ok" },
    { agent: 5, verdict: "agent_too_new" },
  ])("AP-8 version $agent against 2 to 4 is $verdict", ({ agent, verdict }) => {
    expect(compareVersions(agent, { min: 2, max: 4 })).toBe(verdict);
  });
});

/** What a runtime's inspection prints: it calls the method under the registered symbol. */
function formatWithInspectHook(value: Secret<string>): unknown {
  const hook: unknown = Reflect.get(value, Symbol.for("nodejs.util.inspect.custom"));
  return typeof hook === "function" ? hook.call(value) : undefined;
}
