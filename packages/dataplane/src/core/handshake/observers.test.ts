import { expect, test } from "vitest";
import { createNodePrimitives } from "../../io/node-primitives.ts";
import { createLocalIdentity, createRemoteIdentity, type LocalIdentity, type RemoteIdentity } from "./identity.ts";
import { createInitiation, mixEphemeral } from "./initiator.ts";
import { decodeMessage, type InitiationMessage, type ResponseMessage } from "./messages.ts";
import type { PrivateKey } from "./primitives.ts";
import { openInitiation } from "./responder.ts";
import type { SessionKeys } from "./session-keys.ts";
import { tai64n } from "./tai64n.ts";
import { createTranscript } from "./transcript.ts";

test("P-21 who lacks any secret of a handshake derives other keys from its messages, however many of the rest he knows", () => {
  const handshake = complete();
  const real = [hex(handshake.keys.sendKey), hex(handshake.keys.receiveKey)];
  expect(observe(handshake, handshake.secrets), "with all secrets the derivation is the real one").toEqual(real);

  const guesses = [new Uint8Array(32), handshake.response.ephemeral, handshake.publicKeys[1]];
  for (let known = 0; known < 2 ** NAMES.length - 1; known += 1) {
    for (const guess of guesses) {
      const held = NAMES.map((name, at) => [name, known & (1 << at) ? handshake.secrets[name] : guess] as const);
      const derived = observe(handshake, { ...handshake.secrets, ...Object.fromEntries(held) });
      for (const key of derived) expect(real, held.join()).not.toContain(key);
    }
  }
});

test("P-21 two handshakes whose public keys and preshared key are the same share no key", () => {
  const [first, second] = [complete(), complete(new Uint8Array(32).fill(9))];

  expect(hex(second.initiation.ephemeral)).toBe(hex(first.initiation.ephemeral));
  const keys = [first, second].flatMap(({ keys: { sendKey, receiveKey } }) => [hex(sendKey), hex(receiveKey)]);
  expect(new Set(keys).size).toBe(4);
});

const NAMES = ["initiatorEphemeral", "statics", "ephemerals", "responderEphemeral", "preshared"] as const;

/** What a handshake keeps from everybody else: four agreements and the preshared key. */
type Secrets = Readonly<Record<(typeof NAMES)[number], Uint8Array>>;

type Completed = {
  readonly publicKeys: readonly [Uint8Array, Uint8Array];
  readonly initiation: InitiationMessage;
  readonly response: ResponseMessage;
  readonly secrets: Secrets;
  readonly keys: SessionKeys;
};

/** Derives transport keys as both ends do, from what was on the wire and these secrets. */
function observe({ publicKeys, initiation, response }: Completed, secrets: Secrets): readonly string[] {
  const transcript = createTranscript(node, publicKeys[1]);
  mixEphemeral(transcript, initiation.ephemeral);
  transcript.mixKeyForSeal(secrets.initiatorEphemeral);
  transcript.mixHash(initiation.sealedStatic);
  transcript.mixKeyForSeal(secrets.statics);
  transcript.mixHash(initiation.sealedTimestamp);
  mixEphemeral(transcript, response.ephemeral);
  transcript.mixKey(secrets.ephemerals);
  transcript.mixKey(secrets.responderEphemeral);
  transcript.mixPresharedKey(secrets.preshared);
  transcript.mixHash(response.sealedNothing);
  return transcript.split().map(hex);
}

function complete(responderEphemeral = new Uint8Array(32).fill(4)): Completed {
  const [alice, bob] = [identity(1), identity(2)];
  const [mine, theirs] = [node.importPrivateKey(new Uint8Array(32).fill(3)), node.importPrivateKey(responderEphemeral)];
  const preshared = new Uint8Array(32).fill(5);
  const [remoteOfAlice, remoteOfBob] = [remote(alice, bob, preshared), remote(bob, alice, preshared)];
  const pending = good(
    createInitiation({
      local: alice,
      remote: remoteOfAlice,
      ephemeral: mine,
      localIndex: 7,
      timestamp: tai64n(1_700_000_000_123, null),
    }),
  );
  const initiation = decoded(pending.message, "initiation");
  const verified = good(good(openInitiation(bob, initiation)).verify(remoteOfBob));
  const response = decoded(good(verified.respond({ ephemeral: theirs, localIndex: 8 })).message, "response");
  return {
    publicKeys: [alice.privateKey.publicKey.bytes, bob.privateKey.publicKey.bytes],
    initiation,
    response,
    secrets: {
      initiatorEphemeral: agreed(mine, bob.privateKey),
      statics: agreed(alice.privateKey, bob.privateKey),
      ephemerals: agreed(mine, theirs),
      responderEphemeral: agreed(alice.privateKey, theirs),
      preshared,
    },
    keys: good(pending.finish(response)),
  };
}

function identity(fill: number): LocalIdentity {
  return createLocalIdentity(node, new Uint8Array(32).fill(fill));
}

function remote(local: LocalIdentity, other: LocalIdentity, presharedKey: Uint8Array): RemoteIdentity {
  const made = createRemoteIdentity(local, { publicKey: other.privateKey.publicKey.bytes, presharedKey });
  if (!made) throw new Error("clamped keys have no low order");
  return made;
}

function agreed(mine: PrivateKey, other: PrivateKey): Uint8Array {
  const shared = mine.agree(other.publicKey);
  if (!shared) throw new Error("clamped keys have no low order");
  return shared;
}

function decoded<Kind extends "initiation" | "response">(bytes: Uint8Array, kind: Kind): MessageOf<Kind> {
  const message = decodeMessage(bytes);
  if (!message.ok || !isOf(message.value, kind)) throw new Error(`${kind} decodes as one`);
  return message.value;
}

type Message = Extract<ReturnType<typeof decodeMessage>, { readonly ok: true }>["value"];
type MessageOf<Kind> = Extract<Message, { readonly kind: Kind }>;

function isOf<Kind extends Message["kind"]>(message: Message, kind: Kind): message is MessageOf<Kind> {
  return message.kind === kind;
}

function good<T>(result: { readonly ok: true; readonly value: T } | { readonly ok: false }): T {
  if (!result.ok) throw new Error("this handshake is good");
  return result.value;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

const node = createNodePrimitives();
