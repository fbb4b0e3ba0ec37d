import type { Result } from "@weft/protocol";
import type { LocalIdentity, RemoteIdentity } from "./identity.ts";
import { encodeInitiation, type ResponseMessage } from "./messages.ts";
import type { PrivateKey } from "./primitives.ts";
import type { HandshakeError, SessionKeys } from "./session-keys.ts";
import { createTranscript, type Transcript } from "./transcript.ts";

export type InitiationInput = {
  readonly local: LocalIdentity;
  readonly remote: RemoteIdentity;
  /** Fresh for every message. */
  readonly ephemeral: PrivateKey;
  readonly localIndex: number;
  readonly timestamp: Uint8Array;
  /** Identifier of the link profile; null or absent = plain WireGuard. */
  readonly profile?: Uint8Array | null;
};

/** A handshake of ours that waits for its response. */
export type PendingInitiation = {
  readonly localIndex: number;
  /** MACs still zero: `writeMacs` comes next. */
  readonly message: Uint8Array;
  /** Finishes with the response; a response that does not fit leaves the pending state usable. */
  readonly finish: (response: ResponseMessage) => Result<SessionKeys, HandshakeError>;
};

/** Makes the first message of a handshake. */
export function createInitiation(input: InitiationInput): Result<PendingInitiation, HandshakeError> {
  const { local, remote, ephemeral } = input;
  const transcript = createTranscript(local.primitives, remote.publicKey.bytes);
  const ephemeralShared = ephemeral.agree(remote.publicKey);
  if (!ephemeralShared) return { ok: false, error: { code: "low_order_key" } };

  mixEphemeral(transcript, ephemeral.publicKey.bytes);
  const staticKey = transcript.mixKeyForSeal(ephemeralShared);
  const sealedStatic = transcript.seal(staticKey, local.privateKey.publicKey.bytes);
  transcript.mixProfile(input.profile ?? null);
  const timestampKey = transcript.mixKeyForSeal(remote.staticShared);
  const sealedTimestamp = transcript.seal(timestampKey, input.timestamp);
  ephemeralShared.fill(0);

  const message = encodeInitiation({
    senderIndex: input.localIndex,
    ephemeral: ephemeral.publicKey.bytes,
    sealedStatic,
    sealedTimestamp,
  });
  const finish = (response: ResponseMessage): Result<SessionKeys, HandshakeError> =>
    finishInitiation({ ...input, transcript: transcript.fork() }, response);
  return { ok: true, value: { localIndex: input.localIndex, message, finish } };
}

function finishInitiation(
  input: InitiationInput & { readonly transcript: Transcript },
  response: ResponseMessage,
): Result<SessionKeys, HandshakeError> {
  const { local, remote, ephemeral, transcript } = input;
  const remoteEphemeral = local.primitives.importPublicKey(response.ephemeral);
  const ephemeralShared = ephemeral.agree(remoteEphemeral);
  const staticShared = local.privateKey.agree(remoteEphemeral);
  if (!ephemeralShared || !staticShared) return { ok: false, error: { code: "low_order_key" } };

  mixEphemeral(transcript, response.ephemeral);
  transcript.mixKey(ephemeralShared);
  transcript.mixKey(staticShared);
  const key = transcript.mixPresharedKey(remote.presharedKey);
  const nothing = transcript.open(key, response.sealedNothing);
  ephemeralShared.fill(0);
  staticShared.fill(0);
  if (!nothing) return { ok: false, error: { code: "bad_tag", field: "nothing" } };

  const [sendKey, receiveKey] = transcript.split();
  return {
    ok: true,
    value: {
      role: "initiator",
      localIndex: input.localIndex,
      remoteIndex: response.senderIndex,
      sendKey,
      receiveKey,
    },
  };
}

/** An ephemeral key enters both the hash and, as the protocol with a preshared key asks, the chaining key. */
export function mixEphemeral(transcript: Transcript, ephemeral: Uint8Array): void {
  transcript.mixKey(ephemeral);
  transcript.mixHash(ephemeral);
}
