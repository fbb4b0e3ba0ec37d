import { randomBytes, sign, verify, type KeyObject } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";

import {
  CAPABILITY,
  challengeTranscript,
  createRecords,
  decodeServerFrame,
  encodeAgentFrame,
  helloTranscript,
  isRecord,
  keyBytes,
  NO_CHANNEL_HASH,
  parseJoinKey,
  PROTOCOL_VERSION,
  sealEnrolment,
  toBase64Url,
  type AgentFrame,
  type Hello,
  type PeerId,
  type Records,
  type ServerFrame,
} from "@weft/protocol";

import { createMapFollower, type MapFollower, type SharedWork } from "./map-follower.ts";
import { must, type NodeIdentity } from "./node-identity.ts";
import { keyOf, streamCrypto } from "./stream-crypto.ts";

export type LightAgentOptions = {
  readonly url: string;
  readonly identity: NodeIdentity;
  readonly shared: SharedWork;
  readonly hostname: string;
  /** Address on loopback to come from: hosts behind one address share its limits. */
  readonly localAddress: string;
  /** `SECRET.PIN` of a join line; for the first connection. */
  readonly joinKey?: string;
  /** The map that the node kept; it begins without one when left out. */
  readonly map?: MapFollower | undefined;
  readonly onApplied: (agent: LightAgent, added: readonly PeerId[]) => void;
};

/** An agent without a tunnel: the real handshake, records, map and confirmations over a real socket. */
export type LightAgent = {
  readonly peerId: PeerId;
  readonly map: MapFollower;
  readonly receivedBytes: () => number;
  readonly isOpen: () => boolean;
  readonly send: (frame: AgentFrame) => void;
  /** Ends the connection as a pulled plug does. */
  readonly cut: () => void;
};

export type Connected =
  | { readonly ok: true; readonly agent: LightAgent }
  /** Not now: the server says when, 0 where it says nothing. */
  | { readonly ok: false; readonly reason: string; readonly retryAfterMs: number };

/** Opens a stream; resolves with the server's welcome or its refusal. */
export async function connectLightAgent(options: LightAgentOptions): Promise<Connected> {
  const nonce = randomBytes(32);
  const socket = new WebSocket(`${options.url.replace(/^http/, "ws")}/agent/v1?nonce=${toBase64Url(nonce)}`, {
    localAddress: options.localAddress,
    perMessageDeflate: false,
    handshakeTimeout: CONNECT_MS,
  });
  return new Promise((resolve) => {
    const failed = (reason: string, retryAfterMs = 0) => resolve({ ok: false, reason, retryAfterMs });
    socket.on("unexpected-response", (_request, response) => {
      failed(`HTTP ${String(response.statusCode)}`, retryAfterOf(response));
      response.destroy();
    });
    socket.on("error", (error) => failed(error.message));
    socket.on("close", () => failed("closed"));
    follow(socket, { options, nonce, onWelcome: (agent) => resolve({ ok: true, agent }), onRefusal: failed });
  });
}

type Stage = {
  readonly options: LightAgentOptions;
  readonly nonce: Uint8Array;
  readonly onWelcome: (agent: LightAgent) => void;
  readonly onRefusal: (reason: string, retryAfterMs: number) => void;
};

function follow(socket: WebSocket, { options, nonce, onWelcome, onRefusal }: Stage): void {
  let serverKey: KeyObject | undefined;
  let records: Records | undefined;
  let agent: LightAgent | undefined;
  let receivedBytes = 0;
  const map = options.map ?? createMapFollower(() => serverKey ?? fail("the challenge comes first"), options.shared);
  const send = (frame: AgentFrame) => {
    const bytes = encodeAgentFrame(frame);
    if (socket.readyState === WebSocket.OPEN) socket.send(records ? records.seal(bytes) : bytes);
  };
  const handle = (frame: ServerFrame) => {
    switch (frame.kind) {
      case "challenge": {
        serverKey = keyOf("Ed25519", keyBytes(frame.serverKey));
        const started = answerChallenge(frame, serverKey, { options, nonce });
        send(started.hello);
        ({ records } = started);
        return;
      }
      case "welcome": {
        const { peerId } = frame;
        const isOpen = () => socket.readyState === WebSocket.OPEN;
        agent = { peerId, map, receivedBytes: () => receivedBytes, isOpen, send, cut: () => socket.terminate() };
        return onWelcome(agent);
      }
      case "bye":
        return onRefusal(`bye: ${frame.reason}`, frame.retryAfterMs);
      case "ping":
        return send({ kind: "pong", token: frame.token, wallClockMs: Date.now() });
      default: {
        const followed = map.handle(frame);
        if (followed.kind === "need") return send({ kind: "needMap", reason: "gap" });
        if (followed.kind === "nothing" || !agent) return;
        send({ kind: "applied", ...followed.version, durationMs: 1, errors: [] });
        return options.onApplied(agent, followed.added);
      }
    }
  };
  socket.on("message", (data: Buffer) => {
    receivedBytes += data.length;
    handle(must(decodeServerFrame(records && isRecord(data) ? must(records.open(data)) : data)));
  });
}

/** Checks who asks, and says who is there; after this both sides speak in records. */
function answerChallenge(
  challenge: Extract<ServerFrame, { kind: "challenge" }>,
  serverKey: KeyObject,
  { options, nonce }: Pick<Stage, "options" | "nonce">,
): { readonly hello: Extract<AgentFrame, { kind: "hello" }>; readonly records: Records } {
  const { identity, joinKey } = options;
  const context = { agentNonce: nonce, channelHash: NO_CHANNEL_HASH };
  if (!verify(null, challengeTranscript(context, challenge), serverKey, challenge.signature))
    throw new Error("the signature of a challenge is wrong");
  const own = streamCrypto.makeExchangeKey();
  const shared = own.agree(challenge.exchangeKey) ?? fail("the server's key is not usable");
  const exchange = { context, challenge, exchangeKey: own.publicKey, shared };
  const secret = joinKey === undefined ? undefined : must(parseJoinKey(joinKey)).secret;
  const hello: Hello = {
    protocolVersion: PROTOCOL_VERSION,
    agentVersion: "0.1.0",
    identityKey: identity.identityKey,
    publicKey: identity.publicKey,
    bootId: 1n,
    counterEpoch: identity.counterEpoch,
    lastMap: options.map?.version() ?? null,
    hostname: options.hostname,
    wantedName: "",
    os: "linux",
    arch: "x64",
    capabilities: CAPABILITIES,
    channelBinding: "none",
    exchangeKey: own.publicKey,
    enrolmentBox: secret ? sealEnrolment(streamCrypto, exchange, secret) : null,
  };
  const signature = sign(null, helloTranscript(context, challenge, hello), identity.privateKey);
  return {
    hello: { kind: "hello", ...hello, signature },
    records: createRecords(streamCrypto, { ...exchange, hello }, "agent"),
  };
}

function retryAfterOf({ headers }: IncomingMessage): number {
  const seconds = Number(headers["retry-after"] ?? 0);
  return Number.isFinite(seconds) ? seconds * 1_000 : 0;
}

function fail(message: string): never {
  throw new Error(message);
}

/** What an agent of this release announces on a host with AES instructions. */
const CAPABILITIES = Object.values(CAPABILITY);
const CONNECT_MS = 30_000;
