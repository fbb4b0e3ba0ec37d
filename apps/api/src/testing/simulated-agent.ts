import { createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import {
  applyDelta,
  challengeTranscript,
  createMapAssembler,
  createRecords,
  decodeDeltaBody,
  decodeMapBody,
  decodeServerFrame,
  deltaSigningBytes,
  encodeAgentFrame,
  helloTranscript,
  identityKeyFromBytes,
  isRecord,
  keyBytes,
  mapSigningBytes,
  NO_CHANNEL_HASH,
  parseJoinKey,
  PROTOCOL_VERSION,
  publicKeyFromBytes,
  sealEnrolment,
  toBase64Url,
} from "@weft/protocol";
import type {
  AgentFrame,
  Challenge,
  Hello,
  IdentityKey,
  MapVersion,
  NetworkMap,
  PublicKey,
  Records,
  Result,
  ServerFrame,
  ServerKey,
} from "@weft/protocol";
import { WebSocket } from "ws";
import { nodeCrypto } from "../live/node-crypto.ts";

/** Keys of a node that outlive its connections. */
export type Identity = {
  readonly identityKey: IdentityKey;
  readonly privateKey: KeyObject;
  readonly publicKey: PublicKey;
  readonly counterEpoch: bigint;
};

export function makeIdentity(): Identity {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  return {
    identityKey: value(identityKeyFromBytes(raw)),
    privateKey,
    publicKey: value(publicKeyFromBytes(clearTopBit(randomBytes(32)))),
    counterEpoch: randomBytes(8).readBigUInt64BE(),
  };
}

/** X25519 keys have 255 bits. */
function clearTopBit(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, place) => (place === 31 ? byte & 0x7f : byte));
}

export type AgentOptions = {
  readonly identity?: Identity;
  /** `SECRET.PIN` of a join line. */
  readonly joinKey?: string;
  readonly hostname?: string;
  readonly lastMap?: MapVersion | null;
  readonly protocolVersion?: number;
  readonly capabilities?: readonly string[];
  /** Changes the hello behind the signature, or the signature itself. */
  readonly tamper?: (hello: Extract<AgentFrame, { kind: "hello" }>) => Extract<AgentFrame, { kind: "hello" }>;
  /** "hold" leaves maps unconfirmed. */
  readonly confirm?: "at once" | "hold";
};

/** A node that speaks the real protocol over a real socket; it checks every signature. */
export type SimulatedAgent = {
  readonly identity: Identity;
  readonly frames: readonly ServerFrame[];
  readonly challenge: () => Challenge;
  readonly map: () => NetworkMap;
  readonly version: () => MapVersion;
  /** Bytes received so far. */
  readonly receivedBytes: () => number;
  readonly send: (frame: AgentFrame) => void;
  /** Protected bytes that need not be a frame. */
  readonly sendRaw: (bytes: Uint8Array) => void;
  /** The socket below, for bytes as somebody on the way would put them in. */
  readonly socket: WebSocket;
  /** Every message of the server as it came. */
  readonly recorded: readonly Uint8Array[];
  /** Waits for a frame of the kind that was not waited for yet. */
  readonly next: <Kind extends ServerFrame["kind"]>(kind: Kind) => Promise<Extract<ServerFrame, { kind: Kind }>>;
  /** Waits until the map satisfies the condition. */
  readonly until: (condition: (map: NetworkMap) => boolean) => Promise<NetworkMap>;
  readonly isClosed: () => boolean;
  readonly leave: () => void;
  readonly cut: () => void;
};

/** Opens a stream; resolves with the server's first answer to the hello, be it welcome or bye. */
export async function connectAgent(url: string, options: AgentOptions = {}): Promise<SimulatedAgent> {
  const identity = options.identity ?? makeIdentity();
  const nonce = randomBytes(32);
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/agent/v1?nonce=${toBase64Url(nonce)}`);
  const frames: ServerFrame[] = [];
  const taken = new Set<ServerFrame>();
  const assembler = createMapAssembler();
  let challenge: Challenge | undefined;
  let map: NetworkMap | undefined;
  let version: MapVersion | undefined;
  const recorded: Uint8Array[] = [];
  let receivedBytes = 0;
  let records: Records | undefined;
  const sendRaw = (bytes: Uint8Array) => socket.send(records ? records.seal(bytes) : bytes);
  const send = (frame: AgentFrame) => sendRaw(encodeAgentFrame(frame));
  const confirm = (next: MapVersion) => {
    version = { epoch: next.epoch, sequence: next.sequence };
    if (options.confirm !== "hold") send({ kind: "applied", ...version, durationMs: 1, errors: [] });
  };
  const serverKey = () => challenge?.serverKey ?? fail("the challenge comes first");
  const handle = (frame: ServerFrame) => {
    switch (frame.kind) {
      case "challenge": {
        challenge = frame;
        checkSignature(
          frame.serverKey,
          challengeTranscript({ agentNonce: nonce, channelHash: NO_CHANNEL_HASH }, frame),
          frame.signature,
        );
        const start = makeHello({ identity, options, challenge: frame, nonce });
        send(start.frame);
        ({ records } = start);
        return undefined;
      }
      case "mapBegin":
        value(assembler.begin(frame));
        return undefined;
      case "mapPart":
        value(assembler.part(frame));
        return undefined;
      case "mapEnd": {
        const transfer = value(assembler.end(frame));
        const body = transfer.compression === "deflate" ? inflateRawSync(transfer.bytes) : transfer.bytes;
        checkSignature(serverKey(), mapSigningBytes({ ...transfer, body }), transfer.signature);
        map = value(decodeMapBody(body));
        return confirm(transfer);
      }
      case "delta": {
        checkSignature(serverKey(), deltaSigningBytes(frame), frame.signature);
        if (!map || version?.sequence !== frame.baseSequence || version.epoch !== frame.epoch) {
          return send({ kind: "needMap", reason: "gap" });
        }
        map = applyDelta(map, value(decodeDeltaBody(frame.body)));
        return confirm(frame);
      }
      case "ping":
        return send({ kind: "pong", token: frame.token, wallClockMs: null });
      default:
        return undefined;
    }
  };
  socket.on("message", (data: Buffer) => {
    receivedBytes += data.length;
    recorded.push(data);
    const opened = records && isRecord(data) ? records.open(data) : undefined;
    // A replayed hello: what comes back is for somebody else.
    if (opened && !opened.ok) return;
    const frame = value(decodeServerFrame(opened ? opened.value : data));
    handle(frame);
    frames.push(frame);
  });
  let isClosed = false;
  socket.on("close", () => (isClosed = true));
  socket.on("error", () => undefined);

  const agent: SimulatedAgent = {
    identity,
    frames,
    challenge: () => challenge ?? fail("no challenge yet"),
    map: () => map ?? fail("no map yet"),
    version: () => version ?? fail("no map yet"),
    receivedBytes: () => receivedBytes,
    send,
    sendRaw,
    socket,
    recorded,
    async next(kind) {
      const isWanted = (frame: ServerFrame): frame is Extract<ServerFrame, { kind: typeof kind }> =>
        frame.kind === kind && !taken.has(frame);
      const found = await eventually(`a ${kind} frame`, () => frames.find(isWanted));
      taken.add(found);
      return found;
    },
    until: (condition) => eventually("the wanted map", () => (map && condition(map) ? map : undefined), HERD_WAIT_MS),
    isClosed: () => isClosed,
    leave: () => {
      send({ kind: "bye", reason: "agent_stopping", detail: "none", message: "", retryAfterMs: 0 });
      socket.close();
    },
    cut: () => socket.terminate(),
  };
  await eventually(
    "welcome or bye",
    () => frames.some(({ kind }) => kind === "welcome" || kind === "bye") || isClosed || undefined,
    HERD_WAIT_MS,
  );
  return agent;
}

/** Polls until there is a value; the reason is in the error. */
export async function eventually<T>(
  what: string,
  read: () => T | undefined | Promise<T | undefined>,
  withinMs = 10_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 1.3, 50)) {
    const found = await read();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms for ${what}`);
    await new Promise((done) => setTimeout(done, waitMs));
  }
}

function makeHello(start: {
  readonly identity: Identity;
  readonly options: AgentOptions;
  readonly challenge: Challenge;
  readonly nonce: Uint8Array;
}): { readonly frame: Extract<AgentFrame, { kind: "hello" }>; readonly records: Records } {
  const { identity, options, challenge, nonce } = start;
  const context = { agentNonce: nonce, channelHash: NO_CHANNEL_HASH };
  const own = nodeCrypto.makeExchangeKey();
  const shared = own.agree(challenge.exchangeKey) ?? fail("the server's key is not usable");
  const exchange = { context, challenge, exchangeKey: own.publicKey, shared };
  const joinKey = options.joinKey === undefined ? undefined : value(parseJoinKey(options.joinKey));
  const hello: Hello = {
    protocolVersion: options.protocolVersion ?? PROTOCOL_VERSION,
    agentVersion: "0.1.0",
    identityKey: identity.identityKey,
    publicKey: identity.publicKey,
    bootId: 1n,
    counterEpoch: identity.counterEpoch,
    lastMap: options.lastMap ?? null,
    hostname: options.hostname ?? "host",
    wantedName: "",
    os: "linux",
    arch: "x64",
    capabilities: options.capabilities ?? [],
    channelBinding: "none",
    exchangeKey: own.publicKey,
    enrolmentBox: joinKey ? sealEnrolment(nodeCrypto, exchange, joinKey.secret) : null,
  };
  const signature = sign(null, helloTranscript(context, challenge, hello), identity.privateKey);
  const honest = { kind: "hello", ...hello, signature } as const;
  const frame = options.tamper?.(honest) ?? honest;
  return { frame, records: createRecords(nodeCrypto, { ...exchange, hello: frame }, "agent") };
}

function checkSignature(key: ServerKey, message: Uint8Array, signature: Uint8Array): void {
  const jwk = { kty: "OKP", crv: "Ed25519", x: toBase64Url(keyBytes(key)) };
  if (!verify(null, message, createPublicKey({ key: jwk, format: "jwk" }), signature))
    fail("the server's signature is wrong");
}

function value<T>(result: Result<T, unknown>): T {
  return result.ok ? result.value : fail(JSON.stringify(result.error));
}

function fail(message: string): never {
  throw new Error(message);
}

/** Machines that run other tests at the same time need patience with many nodes at once. */
const HERD_WAIT_MS = 60_000;
