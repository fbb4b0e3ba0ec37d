import {
  challengeTranscript,
  compareVersions,
  createRecords,
  helloTranscript,
  isClearByeReason,
  NO_CHANNEL_HASH,
  PROTOCOL_VERSION,
  sealEnrolment,
  type ByeDetail,
  type ByeReason,
  type Hello,
  type Records,
  type Secret,
  type ServerFrame,
  type ServerKey,
  type StreamContext,
  type StreamExchange,
} from "@weft/protocol";

import { signWithIdentity, verifyServerSignature, type Identity } from "../state/identity.ts";
import { nodeCrypto } from "./node-crypto.ts";

export type Welcome = Extract<ServerFrame, { kind: "welcome" }>;
type ChallengeFrame = Extract<ServerFrame, { kind: "challenge" }>;
type ByeFrame = Extract<ServerFrame, { kind: "bye" }>;
type HelloFrame = Hello & { readonly kind: "hello"; readonly signature: Uint8Array };

/** Why a stream did not come about. */
export type HandshakeError =
  /** Somebody else answers at this address, or the server was set up anew. */
  | { readonly code: "wrong_server"; readonly message: string }
  | { readonly code: "version"; readonly message: string }
  | { readonly code: "channel"; readonly message: string }
  | { readonly code: "protocol"; readonly message: string }
  | {
      readonly code: "refused";
      readonly reason: ByeReason;
      readonly detail: ByeDetail;
      readonly retryAfterMs: number;
      readonly message: string;
    };

/** What the agent says about itself. */
export type HelloFacts = Omit<
  Hello,
  "protocolVersion" | "identityKey" | "publicKey" | "channelBinding" | "exchangeKey" | "enrolmentBox"
>;

export type HandshakeInput = {
  readonly identity: Identity;
  /** The key that the join line pinned. */
  readonly serverKey: ServerKey;
  readonly agentNonce: Uint8Array;
  readonly facts: HelloFacts;
  readonly enrolmentKey: Secret<string> | null;
  /** Exporter value of the TLS connection; `null` without TLS. */
  readonly channelHash: () => Uint8Array | null;
};

export type HandshakeStep =
  /** The hello goes out in the clear; everything after it, in both directions, is a record. */
  | { readonly kind: "hello"; readonly frame: HelloFrame; readonly records: Records }
  | { readonly kind: "done"; readonly welcome: Welcome }
  | { readonly kind: "failed"; readonly error: HandshakeError }
  /** Nothing that counts was said. */
  | { readonly kind: "ignored" };

export type Handshake = {
  /** A frame that anybody on the way may have written. */
  readonly handleClear: (frame: ServerFrame) => HandshakeStep;
  /** A frame out of a record: the pinned server wrote it for this stream. */
  readonly handleProven: (frame: ServerFrame) => HandshakeStep;
};

/** The agent's side of the mutual proof: challenge in, hello out, welcome in. */
export function createHandshake(input: HandshakeInput): Handshake {
  let isChallenged = false;
  return {
    handleClear(frame) {
      if (frame.kind === "bye") return clearRefusal(frame);
      if (frame.kind !== "challenge" || isChallenged) return unexpected(frame);
      isChallenged = true;
      return answerChallenge(input, frame);
    },
    handleProven(frame) {
      if (frame.kind === "welcome") return { kind: "done", welcome: frame };
      return frame.kind === "bye" ? refusal(frame) : unexpected(frame);
    },
  };
}

function answerChallenge(input: HandshakeInput, challenge: ChallengeFrame): HandshakeStep {
  if (challenge.serverKey !== input.serverKey) {
    return failed({
      code: "wrong_server",
      message: "the server has another key than the one in the join line; do not go on unless you know why",
    });
  }
  const exported = challenge.channelBinding === "tls-exporter" ? input.channelHash() : NO_CHANNEL_HASH;
  if (!exported)
    return failed({
      code: "channel",
      message: "the server speaks TLS and this connection does not: something between changes it",
    });
  const context: StreamContext = { agentNonce: input.agentNonce, channelHash: exported };
  if (!verifyServerSignature(input.serverKey, challengeTranscript(context, challenge), challenge.signature)) {
    return failed({ code: "wrong_server", message: "the server could not prove that it holds its key" });
  }
  const verdict = compareVersions(PROTOCOL_VERSION, { min: challenge.protocolMin, max: challenge.protocolMax });
  if (verdict !== "ok") return failed({ code: "version", message: versionText(verdict, challenge) });
  return sendHello(input, context, challenge);
}

function sendHello(input: HandshakeInput, context: StreamContext, challenge: ChallengeFrame): HandshakeStep {
  // Dropped with this call: whoever gets the node's keys later cannot read what was recorded.
  const own = nodeCrypto.makeExchangeKey();
  const shared = own.agree(challenge.exchangeKey);
  if (!shared)
    return failed({ code: "protocol", message: "the server offers no usable key to protect the stream with" });
  const exchange: StreamExchange = { context, challenge, exchangeKey: own.publicKey, shared };
  const hello: Hello = {
    ...input.facts,
    protocolVersion: PROTOCOL_VERSION,
    identityKey: input.identity.identityKey,
    publicKey: input.identity.publicKey,
    channelBinding: challenge.channelBinding,
    exchangeKey: own.publicKey,
    enrolmentBox: input.enrolmentKey ? sealEnrolment(nodeCrypto, exchange, input.enrolmentKey) : null,
  };
  const signature = signWithIdentity(input.identity, helloTranscript(context, challenge, hello));
  const records = createRecords(nodeCrypto, { ...exchange, hello }, "agent");
  shared.fill(0);
  return { kind: "hello", frame: { kind: "hello", ...hello, signature }, records };
}

function refusal({ reason, detail, retryAfterMs, message }: ByeFrame): HandshakeStep {
  if (isVersionDetail(detail)) return wrongVersion(detail, message);
  return failed({ code: "refused", reason, detail, retryAfterMs, message });
}

/**
 * In the clear a server's word counts as "not now" at most: nothing in it ends a membership, takes rights, waits for
 * long or is shown to a person as the server's words.
 */
function clearRefusal({ reason, detail, retryAfterMs }: ByeFrame): HandshakeStep {
  if (!isClearByeReason(reason)) return { kind: "ignored" };
  if (isVersionDetail(detail)) return wrongVersion(detail, "");
  const waitMs = Math.min(retryAfterMs, UNPROVEN_WAIT_MS_MAX);
  return failed({ code: "refused", reason, detail: "none", retryAfterMs: waitMs, message: "" });
}

function isVersionDetail(detail: ByeDetail): detail is "agent_too_old" | "agent_too_new" {
  return detail === "agent_too_old" || detail === "agent_too_new";
}

function wrongVersion(detail: "agent_too_old" | "agent_too_new", message: string): HandshakeStep {
  const advice =
    detail === "agent_too_old" ? "the agent is too old: upgrade it" : "the agent is too new: upgrade the server";
  return failed({ code: "version", message: message === "" ? advice : message });
}

function unexpected(frame: ServerFrame): HandshakeStep {
  return failed({ code: "protocol", message: `the server sent "${frame.kind}" before the handshake was over` });
}

function versionText(verdict: "agent_too_old" | "agent_too_new", challenge: ChallengeFrame): string {
  const spoken = `this agent speaks protocol ${PROTOCOL_VERSION}, the server (${challenge.serverVersion}) ${challenge.protocolMin} to ${challenge.protocolMax}`;
  return verdict === "agent_too_old"
    ? `the agent is too old: ${spoken}; upgrade the agent`
    : `the agent is too new: ${spoken}; upgrade the server`;
}

function failed(error: HandshakeError): HandshakeStep {
  return { kind: "failed", error };
}

/** Longest wait that an answer without proof can ask for. */
export const UNPROVEN_WAIT_MS_MAX = 300_000;
