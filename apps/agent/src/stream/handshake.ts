import {
  challengeTranscript,
  compareVersions,
  helloTranscript,
  NO_CHANNEL_HASH,
  PROTOCOL_VERSION,
  sealEnrolment,
  type AgentFrame,
  type ByeDetail,
  type ByeReason,
  type Hello,
  type RandomBytes,
  type Secret,
  type ServerFrame,
  type ServerKey,
  type StreamContext,
} from "@weft/protocol";

import { signWithIdentity, verifyServerSignature, type Identity } from "../state/identity.ts";

export type Welcome = Extract<ServerFrame, { kind: "welcome" }>;
type ChallengeFrame = Extract<ServerFrame, { kind: "challenge" }>;

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
export type HelloFacts = Omit<Hello, "protocolVersion" | "identityKey" | "publicKey" | "channelBinding" | "enrolment">;

export type HandshakeInput = {
  readonly identity: Identity;
  /** The key that the join line pinned. */
  readonly serverKey: ServerKey;
  readonly agentNonce: Uint8Array;
  readonly facts: HelloFacts;
  readonly enrolmentKey: Secret<string> | null;
  readonly random: RandomBytes;
  /** Exporter value of the TLS connection; `null` without TLS. */
  readonly channelHash: () => Uint8Array | null;
};

export type HandshakeStep =
  | { readonly kind: "send"; readonly frame: AgentFrame }
  | { readonly kind: "done"; readonly welcome: Welcome }
  | { readonly kind: "failed"; readonly error: HandshakeError };

/** The agent's side of the mutual proof: challenge in, hello out, welcome in. */
export function createHandshake(input: HandshakeInput): { readonly handle: (frame: ServerFrame) => HandshakeStep } {
  let phase: "challenge" | "welcome" = "challenge";
  return {
    handle(frame) {
      if (phase === "challenge" && frame.kind === "challenge") {
        phase = "welcome";
        return answerChallenge(input, frame);
      }
      if (phase === "welcome" && frame.kind === "welcome") return { kind: "done", welcome: frame };
      if (frame.kind === "bye") return refusal(frame, phase);
      return failed({ code: "protocol", message: `the server sent "${frame.kind}" before the handshake was over` });
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
  const sealed = input.enrolmentKey ? sealEnrolment({ context, challenge }, input.enrolmentKey, input.random) : null;
  if (sealed && !sealed.ok) return failed({ code: "protocol", message: sealed.error.detail });
  const hello: Hello = {
    ...input.facts,
    protocolVersion: PROTOCOL_VERSION,
    identityKey: input.identity.identityKey,
    publicKey: input.identity.publicKey,
    channelBinding: challenge.channelBinding,
    enrolment: sealed ? sealed.value : null,
  };
  const signature = signWithIdentity(input.identity, helloTranscript(context, challenge, hello));
  return { kind: "send", frame: { kind: "hello", ...hello, signature } };
}

/** Before its proof, a server's word counts only as far as "not now". */
function refusal(bye: Extract<ServerFrame, { kind: "bye" }>, phase: "challenge" | "welcome"): HandshakeStep {
  const { detail, retryAfterMs, message } = bye;
  const reason = phase === "welcome" ? bye.reason : "overload";
  if (detail === "agent_too_old" || detail === "agent_too_new") {
    return failed({ code: "version", message: message === "" ? `the server says: ${detail}` : message });
  }
  return failed({ code: "refused", reason, detail, retryAfterMs, message });
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
