import { createPublicKey, verify } from "node:crypto";

import {
  challengeTranscript,
  createRecords,
  helloTranscript,
  keyBytes,
  NO_CHANNEL_HASH,
  openEnrolment,
  PROTOCOL_VERSION,
  PROTOCOL_VERSION_MIN,
  toBase64Url,
  type AgentFrame,
  type Challenge,
  type RandomBytes,
  type Records,
  type ServerFrame,
} from "@weft/protocol";
import { mustBe, nobleCrypto } from "@weft/protocol/testing";

import { aServerIdentity, type TestServerIdentity } from "./signing.ts";

type ServerSideOptions = {
  readonly identity: TestServerIdentity;
  readonly agentNonce: Uint8Array;
  readonly random: RandomBytes;
  readonly protocol?: { readonly min: number; readonly max: number };
  /** Signs with another key than it shows. */
  readonly signature?: "forged";
};

/** The server's half of a handshake, made of other primitives than the agent's own. */
export function createServerSide(options: ServerSideOptions): {
  readonly challengeFrame: ServerFrame;
  /** Throws when the agent does not prove itself. */
  readonly accept: (hello: Extract<AgentFrame, { kind: "hello" }>) => {
    readonly records: Records;
    readonly enrolmentKey: string | null;
  };
} {
  const { identity, agentNonce, random } = options;
  const context = { agentNonce, channelHash: NO_CHANNEL_HASH };
  const own = nobleCrypto.exchangeKeyFrom(random(32));
  const challenge: Challenge = {
    serverKey: identity.serverKey,
    serverNonce: random(32),
    exchangeKey: own.publicKey,
    serverVersion: "test",
    protocolMin: options.protocol?.min ?? PROTOCOL_VERSION_MIN,
    protocolMax: options.protocol?.max ?? PROTOCOL_VERSION,
    channelBinding: "none",
  };
  const signer = options.signature === "forged" ? aServerIdentity(99) : identity;
  const signature = signer.sign(challengeTranscript(context, challenge));
  return {
    challengeFrame: { kind: "challenge", ...challenge, signature },
    accept(hello) {
      const { exchangeKey, enrolmentBox } = hello;
      const key = { kty: "OKP", crv: "Ed25519", x: toBase64Url(keyBytes(hello.identityKey)) };
      const proven = verify(
        null,
        helloTranscript(context, challenge, hello),
        createPublicKey({ key, format: "jwk" }),
        hello.signature,
      );
      if (!proven) throw new Error("the agent's signature is wrong");
      const shared = exchangeKey && own.agree(exchangeKey);
      if (!shared) throw new Error("the agent offers no usable key");
      const exchange = { context, challenge, exchangeKey, shared };
      return {
        records: createRecords(nobleCrypto, { ...exchange, hello }, "server"),
        enrolmentKey: enrolmentBox ? mustBe(openEnrolment(nobleCrypto, exchange, enrolmentBox)).expose() : null,
      };
    },
  };
}
