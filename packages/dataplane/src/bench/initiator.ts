import { keyBytes, type PublicKey } from "@weft/protocol";
import { COOKIE_LIFETIME_MS, openCookieReply } from "../core/handshake/cookie.ts";
import { createLocalIdentity, createRemoteIdentity, type RemoteIdentity } from "../core/handshake/identity.ts";
import { createInitiation, type PendingInitiation } from "../core/handshake/initiator.ts";
import { writeMacs } from "../core/handshake/macs.ts";
import { decodeMessage } from "../core/handshake/messages.ts";
import type { PrivateKey } from "../core/handshake/primitives.ts";
import { tai64n } from "../core/handshake/tai64n.ts";
import { NO_PRESHARED_KEY } from "../core/handshake/transcript.ts";
import { createNodePrimitives } from "../io/node-primitives.ts";

/** One peer that starts handshakes with one responder, as the load of a benchmark. */
export type LoadInitiator = {
  /** Makes an initiation with a timestamp; carries the cookie of the last reply while that is fresh. */
  readonly initiate: (ephemeral: PrivateKey, localIndex: number, unixMs: number) => SentInitiation;
  /** Takes a reply to an initiation; says what it was. */
  readonly take: (sent: SentInitiation, reply: Uint8Array, nowMs: number) => "done" | "cookie" | "unusable";
};

/** An initiation that waits for its reply. */
export type SentInitiation = {
  readonly message: Uint8Array;
  readonly mac1: Uint8Array;
  readonly pending: PendingInitiation;
};

/** Prepares a peer of the responder by its private key of 32 bytes. */
export function createLoadInitiator(privateKey: Uint8Array, responder: PublicKey): LoadInitiator {
  const local = createLocalIdentity(primitives, privateKey);
  const remote = remoteOf(
    createRemoteIdentity(local, { publicKey: keyBytes(responder), presharedKey: NO_PRESHARED_KEY }),
  );
  let cookie: { readonly bytes: Uint8Array; readonly untilMs: number } | null = null;
  let lastTimestamp: Uint8Array | null = null;
  return {
    initiate(ephemeral, localIndex, unixMs) {
      const timestamp = tai64n(unixMs, lastTimestamp);
      lastTimestamp = timestamp;
      const made = createInitiation({ local, remote, ephemeral, localIndex, timestamp });
      if (!made.ok) throw new Error(made.error.code);
      const { message } = made.value;
      const fresh = cookie !== null && cookie.untilMs > unixMs ? cookie.bytes : null;
      const mac1 = writeMacs(primitives, message, { mac1Key: remote.mac1Key, cookie: fresh });
      return { message, mac1: mac1.slice(), pending: made.value };
    },
    take(sent, reply, nowMs) {
      const decoded = decodeMessage(reply);
      if (!decoded.ok) return "unusable";
      if (decoded.value.kind === "response") return sent.pending.finish(decoded.value).ok ? "done" : "unusable";
      if (decoded.value.kind !== "cookie-reply") return "unusable";
      const opened = openCookieReply(primitives, decoded.value, { cookieKey: remote.cookieKey, mac1: sent.mac1 });
      if (!opened) return "unusable";
      cookie = { bytes: opened.slice(), untilMs: nowMs + COOKIE_LIFETIME_MS };
      return "cookie";
    },
  };
}

/** A private key of the primitives that this load uses. */
export function importLoadKey(bytes: Uint8Array): PrivateKey {
  return primitives.importPrivateKey(bytes);
}

function remoteOf(remote: RemoteIdentity | null): RemoteIdentity {
  if (!remote) throw new Error("the responder's key has low order");
  return remote;
}

const primitives = createNodePrimitives();
