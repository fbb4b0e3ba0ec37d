import { createPublicKey, verify } from "node:crypto";
import {
  challengeTranscript,
  compareVersions,
  createRecords,
  err,
  fromBase64Url,
  helloTranscript,
  isCanonicalKey,
  keyBytes,
  NO_CHANNEL_HASH,
  NONCE_BYTES,
  ok,
  openEnrolment,
  PROTOCOL_VERSION,
  PROTOCOL_VERSION_MIN,
  TLS_EXPORTER_LABEL,
  toBase64Url,
} from "@weft/protocol";
import type {
  AgentFrame,
  ByeDetail,
  ByeReason,
  Challenge,
  ExchangeKey,
  Hello,
  RandomBytes,
  Records,
  Result,
  Secret,
  ServerFrame,
  StreamContext,
  StreamExchange,
} from "@weft/protocol";
import type { PeerState } from "../domain/peer-state.ts";
import { nodeCrypto } from "./node-crypto.ts";
import type { ServerIdentity } from "./server-identity.ts";

/** Why a stream is not opened. */
export type Refusal = {
  readonly reason: ByeReason;
  readonly detail: ByeDetail;
  readonly message: string;
  readonly retryAfterMs: number;
};

/** Makes a refusal with a sentence for the person at the node. */
export function refuse(reason: ByeReason, detail: ByeDetail, message: string): Refusal {
  return { reason, detail, message, retryAfterMs: 0 };
}

/** The node keeps its identity and comes back by itself once it is let in again. */
export const EXPIRED = refuse(
  "expired",
  "none",
  "this node's membership has expired; ask an administrator to renew it",
);

/** Both wait for an administrator, too. */
const DISABLED = refuse("disabled", "none", "an administrator disabled this node; ask for it to be enabled again");
const REJECTED = refuse("unauthorised", "none", "an administrator rejected this node; ask for it to be approved");

/** Why a peer in this state may not stay connected; `undefined` when it may. */
export function refusalFor(state: PeerState): Refusal | undefined {
  switch (state) {
    case "pending":
    case "active":
      return undefined;
    case "expired":
      return EXPIRED;
    case "disabled":
      return DISABLED;
    case "rejected":
      return REJECTED;
  }
}

export type Handshake = {
  readonly challengeFrame: ServerFrame;
  /** Agrees on the keys of the stream; works once. */
  readonly agree: (frame: HelloFrame) => Result<AgreedStream, Refusal>;
};

type HelloFrame = Extract<AgentFrame, { kind: "hello" }>;

/** Both ends can protect what they say from here on; who the other one is comes out of the proof. */
export type AgreedStream = {
  readonly records: Records;
  /** Checks the hello; what comes out is proven to hold the identity key on this very connection. */
  readonly prove: () => Result<ProvenHello, Refusal>;
};

export type ProvenHello = { readonly hello: Hello; readonly enrolmentKey: Secret<string> | null };

/** Opens a handshake; `undefined` when the nonce in the URL is none. */
export function beginHandshake(options: {
  readonly identity: ServerIdentity;
  readonly random: RandomBytes;
  readonly serverVersion: string;
  readonly nonce: string;
  readonly exportKey: ((label: string, length: number) => Uint8Array) | undefined;
}): Handshake | undefined {
  const agentNonce = fromBase64Url(options.nonce);
  if (!agentNonce.ok || agentNonce.value.length !== NONCE_BYTES) return undefined;
  const channelHash = options.exportKey?.(TLS_EXPORTER_LABEL, 32) ?? NO_CHANNEL_HASH;
  const context: StreamContext = { agentNonce: agentNonce.value, channelHash };
  let own: ExchangeKey | undefined = nodeCrypto.makeExchangeKey();
  const challenge: Challenge = {
    serverKey: options.identity.key,
    serverNonce: options.random(NONCE_BYTES),
    exchangeKey: own.publicKey,
    serverVersion: options.serverVersion,
    protocolMin: PROTOCOL_VERSION_MIN,
    protocolMax: PROTOCOL_VERSION,
    channelBinding: options.exportKey ? "tls-exporter" : "none",
  };
  const signature = options.identity.sign(challengeTranscript(context, challenge));
  return {
    challengeFrame: { kind: "challenge", ...challenge, signature },
    agree({ kind: _kind, signature: proof, ...hello }) {
      const version = checkVersion(hello.protocolVersion);
      if (version) return err(version);
      const shared = hello.exchangeKey && own?.agree(hello.exchangeKey);
      // Dropped at once: whoever gets the server's key later cannot read what was recorded.
      own = undefined;
      if (!hello.exchangeKey || !shared) {
        return err(refuse("incompatible", "none", "this agent offers no usable key to protect the stream with"));
      }
      const exchange = { context, challenge, exchangeKey: hello.exchangeKey, shared };
      const records = createRecords(nodeCrypto, { ...exchange, hello }, "server");
      const enrolment = hello.enrolmentBox && openEnrolment(nodeCrypto, exchange, hello.enrolmentBox);
      shared.fill(0);
      return ok({ records, prove: () => prove(hello, exchange, { proof, enrolment }) });
    },
  };
}

function prove(
  hello: Hello,
  { context, challenge }: StreamExchange,
  claims: { readonly proof: Uint8Array; readonly enrolment: ReturnType<typeof openEnrolment> | null },
): Result<ProvenHello, Refusal> {
  if (hello.channelBinding !== challenge.channelBinding) {
    const message = "the connection ends at a proxy on one side only; use the same address form on both";
    return err(refuse("unauthorised", "channel_mismatch", message));
  }
  if (!isCanonicalKey(hello.publicKey, "x25519") || !isCanonicalKey(hello.identityKey, "ed25519")) {
    const message = "a key of this node is not in its one canonical form; join again to make new ones";
    return err(refuse("unauthorised", "none", message));
  }
  if (!isSignedBy(hello, helloTranscript(context, challenge, hello), claims.proof)) {
    return err(refuse("unauthorised", "bad_signature", "the identity key did not sign this connection"));
  }
  if (!claims.enrolment) return ok({ hello, enrolmentKey: null });
  if (claims.enrolment.ok) return ok({ hello, enrolmentKey: claims.enrolment.value });
  return err(refuse("unauthorised", "bad_signature", "the enrolment key was not sealed to this connection"));
}

function checkVersion(version: number): Refusal | undefined {
  const verdict = compareVersions(version, { min: PROTOCOL_VERSION_MIN, max: PROTOCOL_VERSION });
  switch (verdict) {
    case "ok":
      return undefined;
    case "agent_too_old":
      return refuse(
        "incompatible",
        verdict,
        `this agent speaks version ${version}, the server needs at least ${PROTOCOL_VERSION_MIN}: upgrade the agent`,
      );
    case "agent_too_new":
      return refuse(
        "incompatible",
        verdict,
        `this agent speaks version ${version}, the server knows up to ${PROTOCOL_VERSION}: upgrade the server first`,
      );
  }
}

function isSignedBy({ identityKey }: Hello, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    const jwk = { kty: "OKP", crv: "Ed25519", x: toBase64Url(keyBytes(identityKey)) };
    return verify(null, message, createPublicKey({ key: jwk, format: "jwk" }), signature);
  } catch {
    // The library refuses points off the curve by throwing; to us that is a wrong signature.
    return false;
  }
}
