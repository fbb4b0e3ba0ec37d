import type { LocalIdentity } from "./identity.ts";
import { mac1Of } from "./macs.ts";
import { type CookieReplyMessage, encodeCookieReply } from "./messages.ts";
import { KEY_BYTES, type Primitives } from "./primitives.ts";
import { viewOf } from "./bytes.ts";

/** The secrets cookies are made from: the newest, and the one before it, which is still honoured. */
export type CookieSecrets = { readonly current: Uint8Array; readonly previous: Uint8Array };

/** Draws the first pair. */
export function createCookieSecrets(random: (byteCount: number) => Uint8Array): CookieSecrets {
  return { current: random(KEY_BYTES), previous: random(KEY_BYTES) };
}

/** Moves the current secret to the second place and draws a new one. */
export function rotateCookieSecrets(secrets: CookieSecrets, random: (byteCount: number) => Uint8Array): CookieSecrets {
  secrets.previous.fill(0);
  return { current: random(KEY_BYTES), previous: secrets.current };
}

/** The cookie of one sender: a MAC over its address (4 or 16 bytes) and port (big-endian). */
export function cookieOf(primitives: Primitives, secret: Uint8Array, sender: CookieSender): Uint8Array {
  return primitives.mac(secret, sender);
}

/** Bytes a cookie is bound to; made by `cookieSender`. */
export type CookieSender = Uint8Array;

export function cookieSender(address: Uint8Array, port: number): CookieSender {
  const bytes = new Uint8Array(address.length + 2);
  bytes.set(address);
  viewOf(bytes).setUint16(address.length, port, false);
  return bytes;
}

export type CookieReplyInput = {
  readonly local: LocalIdentity;
  readonly secret: Uint8Array;
  readonly sender: CookieSender;
  /** The message being answered, type 1 or 2. */
  readonly message: Uint8Array;
  /** 24 bytes, fresh. */
  readonly nonce: Uint8Array;
};

/** Answers a message with a cookie instead of work. */
export function createCookieReply(input: CookieReplyInput): Uint8Array {
  const { local, message, nonce } = input;
  const sealedCookie = local.primitives.sealExtended({
    key: local.cookieKey,
    nonce,
    text: cookieOf(local.primitives, input.secret, input.sender),
    associated: mac1Of(message),
  });
  return encodeCookieReply({ receiverIndex: viewOf(message).getUint32(4, true), nonce, sealedCookie });
}

/** Reads the cookie out of a reply to a message of ours; null when it does not answer that message. */
export function openCookieReply(
  primitives: Primitives,
  reply: CookieReplyMessage,
  expected: { readonly cookieKey: Uint8Array; readonly mac1: Uint8Array },
): Uint8Array | null {
  return primitives.openExtended({
    key: expected.cookieKey,
    nonce: reply.nonce,
    text: reply.sealedCookie,
    associated: expected.mac1,
  });
}

/** A cookie is used, and a secret is current, for this long. */
export const COOKIE_LIFETIME_MS = 120_000;
