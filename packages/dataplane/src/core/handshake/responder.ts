import type { Result } from "@weft/protocol";
import type { LocalIdentity, RemoteIdentity } from "./identity.ts";
import { mixEphemeral } from "./initiator.ts";
import { encodeResponse, type InitiationMessage } from "./messages.ts";
import type { PrivateKey, RemoteKey } from "./primitives.ts";
import type { HandshakeError, SessionKeys } from "./session-keys.ts";
import { createTranscript, type Transcript } from "./transcript.ts";

/** An initiation whose sender has named itself; not proven before `verify` succeeded. */
export type ClaimedInitiation = {
  readonly claimedStatic: Uint8Array;
  /**
   * Proves the claim with what we know of that peer and reveals the time stamp. The first of the link profiles that fits
   * counts; trying one costs no key agreement. Without a list: plain WireGuard only.
   */
  readonly verify: (
    remote: RemoteIdentity,
    profiles?: readonly (Uint8Array | null)[],
  ) => Result<VerifiedInitiation, HandshakeError>;
};

/** An initiation from a peer we know. Whether it is a replay is for the caller to decide by its time stamp. */
export type VerifiedInitiation = {
  readonly timestamp: Uint8Array;
  /** Place of the link profile in the list that was given. */
  readonly profilePlace: number;
  readonly respond: (own: ResponseInput) => Result<Response, HandshakeError>;
};

type ResponseInput = { readonly ephemeral: PrivateKey; readonly localIndex: number };

/** MACs of the message are still zero: `writeMacs` comes next. */
type Response = { readonly message: Uint8Array; readonly keys: SessionKeys };

/** Opens the static key of an initiation: one key agreement, so the first thing a flood would cost. */
export function openInitiation(
  local: LocalIdentity,
  message: InitiationMessage,
): Result<ClaimedInitiation, HandshakeError> {
  const { primitives } = local;
  const transcript = createTranscript(primitives, local.privateKey.publicKey.bytes);
  const ephemeral = primitives.importPublicKey(message.ephemeral);
  const shared = local.privateKey.agree(ephemeral);
  if (!shared) return { ok: false, error: { code: "low_order_key" } };

  mixEphemeral(transcript, message.ephemeral);
  const key = transcript.mixKeyForSeal(shared);
  const claimedStatic = transcript.open(key, message.sealedStatic);
  shared.fill(0);
  if (!claimedStatic) return { ok: false, error: { code: "bad_tag", field: "static" } };

  const verify: ClaimedInitiation["verify"] = (remote, profiles = PLAIN_ONLY) => {
    for (const [profilePlace, profile] of profiles.entries()) {
      const forked = transcript.fork();
      forked.mixProfile(profile);
      const timestampKey = forked.mixKeyForSeal(remote.staticShared);
      const timestamp = forked.open(timestampKey, message.sealedTimestamp);
      if (!timestamp) continue;
      const own = { local, remote, transcript: forked, remoteEphemeral: ephemeral, remoteIndex: message.senderIndex };
      return { ok: true, value: { timestamp, profilePlace, respond: (input) => respond(own, input) } };
    }
    return { ok: false, error: { code: "bad_tag", field: "timestamp" } };
  };
  return { ok: true, value: { claimedStatic, verify } };
}

type ResponseContext = {
  readonly local: LocalIdentity;
  readonly remote: RemoteIdentity;
  readonly transcript: Transcript;
  readonly remoteEphemeral: RemoteKey;
  readonly remoteIndex: number;
};

function respond(context: ResponseContext, own: ResponseInput): Result<Response, HandshakeError> {
  const { remote } = context;
  const transcript = context.transcript.fork();
  const ephemeralShared = own.ephemeral.agree(context.remoteEphemeral);
  const staticShared = own.ephemeral.agree(remote.publicKey);
  if (!ephemeralShared || !staticShared) return { ok: false, error: { code: "low_order_key" } };

  mixEphemeral(transcript, own.ephemeral.publicKey.bytes);
  transcript.mixKey(ephemeralShared);
  transcript.mixKey(staticShared);
  const key = transcript.mixPresharedKey(remote.presharedKey);
  const sealedNothing = transcript.seal(key, NOTHING);
  ephemeralShared.fill(0);
  staticShared.fill(0);

  const message = encodeResponse({
    senderIndex: own.localIndex,
    receiverIndex: context.remoteIndex,
    ephemeral: own.ephemeral.publicKey.bytes,
    sealedNothing,
  });
  const [receiveKey, sendKey] = transcript.split();
  const { remoteIndex } = context;
  return {
    ok: true,
    value: { message, keys: { role: "responder", localIndex: own.localIndex, remoteIndex, sendKey, receiveKey } },
  };
}

const PLAIN_ONLY = [null];
const NOTHING = new Uint8Array(0);
