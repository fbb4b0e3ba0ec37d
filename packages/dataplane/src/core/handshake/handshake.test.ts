import fc from "fast-check";
import { PLAIN_CONCEAL, setConcealKeys } from "@weft/protocol";
import { describe, expect, test } from "vitest";
import { createNodePrimitives } from "../../io/node-primitives.ts";
import { createNoblePrimitives } from "../../io/noble-primitives.ts";
import { createLocalIdentity, createRemoteIdentity, type LocalIdentity, type RemoteIdentity } from "./identity.ts";
import { stampType } from "../message-types.ts";
import { createInitiation, type PendingInitiation } from "./initiator.ts";
import { hasValidMac1, hasValidMac2, mac1Of, writeMacs } from "./macs.ts";
import { decodeMessage, type InitiationMessage, type ResponseMessage } from "./messages.ts";
import type { Primitives } from "./primitives.ts";
import { openInitiation } from "./responder.ts";
import type { SessionKeys } from "./session-keys.ts";
import { cookieOf, cookieSender, createCookieReply, openCookieReply } from "./cookie.ts";
import { tai64n } from "./tai64n.ts";

describe("handshake", () => {
  test.each([
    { name: "node with node", initiator: createNodePrimitives(), responder: createNodePrimitives() },
    { name: "noble with node", initiator: createNoblePrimitives(), responder: createNodePrimitives() },
    { name: "node with noble", initiator: createNodePrimitives(), responder: createNoblePrimitives() },
  ])("gives both sides the same two keys: $name", ({ initiator, responder }) => {
    const pair = makePair({ initiator, responder });

    const { mine, theirs } = complete(pair);

    expect(hex(mine.sendKey)).toBe(hex(theirs.receiveKey));
    expect(hex(mine.receiveKey)).toBe(hex(theirs.sendKey));
    expect(hex(mine.sendKey)).not.toBe(hex(mine.receiveKey));
    expect([mine.localIndex, mine.remoteIndex]).toEqual([theirs.remoteIndex, theirs.localIndex]);
  });

  test("completes for any keys and any preshared key, and never with different preshared keys", () => {
    fc.assert(
      fc.property(fc.tuple(key(), key(), key(), key(), key()), ([alice, bob, presharedKey, mine, theirs]) => {
        const pair = makePair({ alice, bob, presharedKey, ephemerals: [mine, theirs] });
        const { mine: own, theirs: other } = complete(pair);
        expect(hex(own.sendKey)).toBe(hex(other.receiveKey));

        const wrong = makePair({
          alice,
          bob,
          presharedKey,
          ephemerals: [mine, theirs],
          presharedKeyOfBob: flip(presharedKey, 7),
        });
        const response = respond(wrong, pendingOf(wrong).message);
        expect(pendingOf(wrong).finish(response.message).ok).toBe(false);
      }),
      { numRuns: 30 },
    );
  });

  test("fails when any byte of the initiation that is sealed or hashed was changed", () => {
    const pair = makePair({});
    const { message } = pendingOf(pair);

    for (let index = 8; index < 116; index += 1) {
      expect(tryRespond(pair, flip(message, index)), `byte ${index}`).toBeNull();
    }
  });

  test("fails when any byte of the response that is sealed or hashed was changed, and can still finish afterwards", () => {
    const pair = makePair({});
    const pending = pendingOf(pair);
    const response = respond(pair, pending.message);

    for (let index = 12; index < 60; index += 1) {
      const decoded = decodeMessage(flip(response.bytes, index));
      if (!decoded.ok || decoded.value.kind !== "response") throw new Error("a response stays a response");
      expect(pending.finish(decoded.value).ok, `byte ${index}`).toBe(false);
    }
    expect(pending.finish(response.message).ok).toBe(true);
  });

  test("completes under a link profile that both sides name, and under no other one", () => {
    const pair = makePair({});
    const [mine, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    for (const profile of [mine, null]) {
      const pending = pendingOf(pair, profile);
      const wrong = [mine, other, null].filter((candidate) => candidate !== profile);

      expect(tryRespond(pair, pending.message, wrong)).toBeNull();
      expect(tryRespond(pair, pending.message, [])).toBeNull();
      const answer = respond(pair, pending.message, [...wrong, profile]);

      expect(answer.profilePlace).toBe(2);
      const finished = pending.finish(answer.message);
      expect(finished.ok && hex(finished.value.sendKey)).toBe(hex(answer.keys.receiveKey));
    }
  });

  test("gives other keys under another link profile, and the messages of plain WireGuard without one", () => {
    const pair = makePair({});
    const profile = new Uint8Array(32).fill(1);
    const [bound, plain] = [pendingOf(pair, profile), pendingOf(pair)];

    const keys = respond(pair, bound.message, [profile]).keys;

    expect(hex(keys.sendKey)).not.toBe(hex(respond(pair, plain.message).keys.sendKey));
    expect(plain.finish(respond(pair, bound.message, [profile]).message).ok).toBe(false);
    // Type, index, ephemeral and static key are the same: nobody sees from the first 88 bytes which it is.
    expect(hex(bound.message.subarray(0, 88))).toBe(hex(plain.message.subarray(0, 88)));
    expect(hex(bound.message.subarray(88, 116))).not.toBe(hex(plain.message.subarray(88, 116)));
  });

  test("WIR-06 the type that stands in a message is no part of its transcript: only MACs see it", () => {
    const set = setConcealKeys(PLAIN_CONCEAL, [
      ["h1", "4000000000-4000000009"],
      ["h2", "77777-77799"],
    ]);
    if (!set.ok) throw new Error("a literal of this test is wrong");
    const profile = set.value;
    const zeros = (byteCount: number): Uint8Array => new Uint8Array(byteCount);
    const pair = makePair({});
    const plain = complete(pair);
    const pending = pendingOf(pair);
    const initiation = decodeMessage(stampType(pending.message.slice(), profile, zeros), profile);
    if (!initiation.ok || initiation.value.kind !== "initiation") throw new Error("its type is in the range");
    const opened = openInitiation(pair.bob, initiation.value);
    const verified = opened.ok ? opened.value.verify(pair.remoteOfBob) : opened;
    if (!verified.ok) throw new Error("the type has broken the handshake");
    const ephemeral = pair.bob.primitives.importPrivateKey(pair.ephemerals[1]);
    const response = verified.value.respond({ ephemeral, localIndex: 0x01020304 });
    if (!response.ok) throw new Error(response.error.code);
    const answer = decodeMessage(stampType(response.value.message, profile, zeros), profile);
    if (!answer.ok || answer.value.kind !== "response") throw new Error("its type is in the range");

    const finished = pending.finish(answer.value);

    expect(finished.ok && hex(finished.value.sendKey)).toBe(hex(plain.mine.sendKey));
    expect(hex(response.value.keys.sendKey)).toBe(hex(plain.theirs.sendKey));
  });

  test("never throws on arbitrary bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(0, 1, 2, 3, 4), (bytes, type) => {
        if (bytes.length > 3) bytes.set([type, 0, 0, 0]);
        decodeMessage(bytes);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 148, maxLength: 148 }), (bytes) => {
        bytes.set([1, 0, 0, 0]);
        expect(tryRespond(makePair({}), bytes)).toBeNull();
      }),
      { numRuns: 50 },
    );
  });

  test("names no peer whose public key has low order", () => {
    const local = createLocalIdentity(node, new Uint8Array(32).fill(1));

    expect(createRemoteIdentity(local, { publicKey: new Uint8Array(32), presharedKey: NO_KEY })).toBeNull();
  });
});

describe("message authentication", () => {
  test("MAC1 covers everything before it and binds to the receiver's key", () => {
    const pair = makePair({});
    const { message } = pendingOf(pair);
    writeMacs(node, message, { mac1Key: pair.remoteOfAlice.mac1Key, cookie: null });

    expect(hasValidMac1(node, message, pair.bob.mac1Key)).toBe(true);
    expect(hasValidMac1(node, message, pair.alice.mac1Key)).toBe(false);
    expect(hasValidMac1(node, flip(message, 0), pair.bob.mac1Key)).toBe(false);
    expect(hasValidMac1(node, flip(message, 116), pair.bob.mac1Key)).toBe(false);
    expect(hex(message.subarray(132))).toBe("00".repeat(16));
  });

  test("a cookie reply hands the cookie only to the sender of that message, and MAC2 proves it came from there", () => {
    const pair = makePair({});
    const { message } = pendingOf(pair);
    const mac1 = writeMacs(node, message, { mac1Key: pair.remoteOfAlice.mac1Key, cookie: null });
    const secret = new Uint8Array(32).fill(9);
    const sender = cookieSender(Uint8Array.of(192, 0, 2, 1), 51_820);
    const bytes = createCookieReply({ local: pair.bob, secret, sender, message, nonce: new Uint8Array(24).fill(5) });
    const reply = decodeMessage(bytes);
    if (!reply.ok || reply.value.kind !== "cookie-reply") throw new Error("a cookie reply decodes as one");

    const cookie = openCookieReply(node, reply.value, {
      cookieKey: pair.remoteOfAlice.cookieKey,
      mac1: mac1Of(message),
    });
    const forOther = openCookieReply(node, reply.value, {
      cookieKey: pair.remoteOfAlice.cookieKey,
      mac1: flip(mac1, 0),
    });
    writeMacs(node, message, { mac1Key: pair.remoteOfAlice.mac1Key, cookie });

    expect(forOther).toBeNull();
    expect(hex(cookie ?? NO_KEY)).toBe(hex(cookieOf(node, secret, sender)));
    expect(hasValidMac2(node, message, cookieOf(node, secret, sender))).toBe(true);
    expect(hasValidMac2(node, message, cookieOf(node, secret, cookieSender(Uint8Array.of(192, 0, 2, 1), 51_821)))).toBe(
      false,
    );
    expect(reply.value.receiverIndex).toBe(pendingOf(pair).localIndex);
  });
});

type Pair = {
  readonly alice: LocalIdentity;
  readonly bob: LocalIdentity;
  readonly remoteOfAlice: RemoteIdentity;
  readonly remoteOfBob: RemoteIdentity;
  readonly ephemerals: readonly [Uint8Array, Uint8Array];
};

type PairInput = {
  readonly initiator?: Primitives;
  readonly responder?: Primitives;
  readonly alice?: Uint8Array;
  readonly bob?: Uint8Array;
  readonly presharedKey?: Uint8Array;
  readonly presharedKeyOfBob?: Uint8Array;
  readonly ephemerals?: readonly [Uint8Array, Uint8Array];
};

function makePair(input: PairInput): Pair {
  const presharedKey = input.presharedKey ?? NO_KEY;
  const alice = createLocalIdentity(input.initiator ?? node, input.alice ?? new Uint8Array(32).fill(1));
  const bob = createLocalIdentity(input.responder ?? node, input.bob ?? new Uint8Array(32).fill(2));
  const remoteOfAlice = createRemoteIdentity(alice, { publicKey: bob.privateKey.publicKey.bytes, presharedKey });
  const remoteOfBob = createRemoteIdentity(bob, {
    publicKey: alice.privateKey.publicKey.bytes,
    presharedKey: input.presharedKeyOfBob ?? presharedKey,
  });
  if (!remoteOfAlice || !remoteOfBob) throw new Error("clamped keys have no low order");
  const ephemerals = input.ephemerals ?? [new Uint8Array(32).fill(3), new Uint8Array(32).fill(4)];
  return { alice, bob, remoteOfAlice, remoteOfBob, ephemerals };
}

function pendingOf(pair: Pair, profile: Uint8Array | null = null): PendingInitiation {
  const pending = createInitiation({
    local: pair.alice,
    remote: pair.remoteOfAlice,
    ephemeral: pair.alice.primitives.importPrivateKey(pair.ephemerals[0]),
    localIndex: 0xfedcba98,
    timestamp: tai64n(1_700_000_000_123, null),
    profile,
  });
  if (!pending.ok) throw new Error(pending.error.code);
  return pending.value;
}

type Answer = {
  readonly bytes: Uint8Array;
  readonly message: ResponseMessage;
  readonly keys: SessionKeys;
  readonly profilePlace: number;
};

function respond(pair: Pair, bytes: Uint8Array, profiles?: readonly (Uint8Array | null)[]): Answer {
  const answer = tryRespond(pair, bytes, profiles);
  if (!answer) throw new Error("this initiation is good");
  return answer;
}

function tryRespond(pair: Pair, bytes: Uint8Array, profiles?: readonly (Uint8Array | null)[]): Answer | null {
  const claimed = openInitiation(pair.bob, initiationOf(bytes));
  if (!claimed.ok) return null;
  const verified = claimed.value.verify(pair.remoteOfBob, profiles);
  if (!verified.ok) return null;
  const ephemeral = pair.bob.primitives.importPrivateKey(pair.ephemerals[1]);
  const response = verified.value.respond({ ephemeral, localIndex: 0x01020304 });
  if (!response.ok) return null;
  const message = decodeMessage(response.value.message);
  if (!message.ok || message.value.kind !== "response") throw new Error("a response decodes as one");
  const { profilePlace } = verified.value;
  return { bytes: response.value.message, message: message.value, keys: response.value.keys, profilePlace };
}

function complete(pair: Pair): { readonly mine: SessionKeys; readonly theirs: SessionKeys } {
  const pending = pendingOf(pair);
  const answer = respond(pair, pending.message);
  const finished = pending.finish(answer.message);
  if (!finished.ok) throw new Error(finished.error.code);
  return { mine: finished.value, theirs: answer.keys };
}

function initiationOf(bytes: Uint8Array): InitiationMessage {
  const message = decodeMessage(bytes);
  if (!message.ok || message.value.kind !== "initiation") throw new Error("an initiation decodes as one");
  return message.value;
}

function flip(bytes: Uint8Array, index: number): Uint8Array {
  return bytes.with(index, (bytes[index] ?? 0) ^ 0x10);
}

function key(): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ minLength: 32, maxLength: 32 });
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

const node = createNodePrimitives();
const NO_KEY = new Uint8Array(32);
