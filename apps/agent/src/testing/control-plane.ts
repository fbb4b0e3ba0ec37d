import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

import {
  decodeAgentFrame,
  encodeServerFrame,
  fromBase64Url,
  formatJoinKey,
  makeToken,
  type AgentFrame,
  type MapDelta,
  type NetworkMap,
  type PeerId,
  type Records,
  type Secret,
  type ServerFrame,
} from "@weft/protocol";
import { aNetworkMap, countingRandom, mustBe } from "@weft/protocol/testing";
import { randomBytes } from "node:crypto";
import { WebSocketServer, type WebSocket } from "ws";

import { createServerSide } from "./server-side.ts";
import { aServerIdentity, deltaFrame, snapshotFrames, type TestServerIdentity } from "./signing.ts";

/** Deviations from good behaviour that a test asks for. */
type ControlPlaneFaults = {
  /** Signs the challenge with another key than it shows. */
  readonly challengeSignature?: "forged";
  readonly protocol?: { readonly min: number; readonly max: number };
  readonly refuse?: Extract<ServerFrame, { kind: "bye" }>;
  readonly httpStatus?: { readonly status: number; readonly retryAfterSeconds?: number };
  readonly heartbeatMs?: number;
  /** Accepts the stream and then says nothing, not even pong. */
  readonly silent?: "after_welcome" | "from_start";
};

/** One agent's stream as the server sees it. */
export type AgentStream = {
  readonly hello: Extract<AgentFrame, { kind: "hello" }>;
  readonly enrolmentKey: string | null;
  readonly frames: AgentFrame[];
  readonly send: (frame: ServerFrame) => void;
  /** Protected bytes that need not be a frame. */
  readonly sendRaw: (bytes: Uint8Array) => void;
  readonly drop: () => void;
};

/** A small control plane that speaks the real protocol over a real WebSocket. */
export type TestControlPlane = {
  readonly url: string;
  readonly identity: TestServerIdentity;
  readonly joinKey: string;
  readonly peerId: PeerId;
  readonly streams: AgentStream[];
  faults: ControlPlaneFaults;
  /** The map that the next snapshot carries. */
  readonly setMap: (map: NetworkMap) => void;
  readonly version: () => { readonly epoch: bigint; readonly sequence: bigint };
  readonly newEpoch: () => void;
  /** Changes the map and tells every connected agent. */
  readonly change: (delta: MapDelta, map: NetworkMap) => void;
  readonly sendSnapshot: (stream: AgentStream) => void;
  readonly stop: () => Promise<void>;
  /** Comes back on the same port. */
  readonly start: () => Promise<void>;
};

export async function startControlPlane(
  options: {
    readonly identity?: TestServerIdentity;
    /** Listens here instead of on loopback. */ readonly socketPath?: string;
  } = {},
): Promise<TestControlPlane> {
  const identity = options.identity ?? aServerIdentity();
  const secret = makeToken("enr", countingRandom(77));
  const state = { map: aNetworkMap(2), epoch: 7n, sequence: 1n, port: 0 };
  const streams: AgentStream[] = [];
  let close: () => Promise<void> = async () => {};

  const sendSnapshot = (stream: AgentStream): void => {
    for (const frame of snapshotFrames(identity, state.map, { epoch: state.epoch, sequence: state.sequence }))
      stream.send(frame);
  };
  const listen = async (): Promise<void> => {
    const server = createServer();
    const sockets = new WebSocketServer({ noServer: true });
    server.on("upgrade", (request, socket, head) => {
      const { httpStatus } = plane.faults;
      if (httpStatus) {
        const retry =
          httpStatus.retryAfterSeconds === undefined ? "" : `Retry-After: ${httpStatus.retryAfterSeconds}\r\n`;
        socket.end(`HTTP/1.1 ${httpStatus.status} No\r\n${retry}Connection: close\r\n\r\n`);
        return;
      }
      sockets.handleUpgrade(request, socket, head, (webSocket) =>
        serve(plane, { webSocket, request, sendSnapshot, secret }),
      );
    });
    if (options.socketPath === undefined) {
      await new Promise<void>((resolve) => void server.listen(state.port, "127.0.0.1", resolve));
      state.port = (server.address() as AddressInfo).port;
    } else {
      await new Promise<void>((resolve) => void server.listen(options.socketPath, resolve));
    }
    close = async () => {
      for (const client of sockets.clients) client.terminate();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    };
  };
  const plane: TestControlPlane = {
    get url() {
      return options.socketPath === undefined ? `http://127.0.0.1:${state.port}` : `unix:${options.socketPath}`;
    },
    identity,
    joinKey: formatJoinKey(secret, identity.serverKey),
    peerId: state.map.self.peerId,
    streams,
    faults: {},
    setMap(map) {
      state.map = map;
      state.sequence += 1n;
    },
    version: () => ({ epoch: state.epoch, sequence: state.sequence }),
    newEpoch() {
      state.epoch += 1n;
      state.sequence = 1n;
    },
    change(delta, map) {
      const baseSequence = state.sequence;
      state.sequence += 1n;
      state.map = map;
      const frame = deltaFrame(identity, delta, { epoch: state.epoch, sequence: state.sequence, baseSequence });
      for (const stream of streams) stream.send(frame);
    },
    sendSnapshot,
    stop: () => close(),
    start: listen,
  };
  await listen();
  return plane;
}

type Served = {
  readonly webSocket: WebSocket;
  readonly request: IncomingMessage;
  readonly sendSnapshot: (stream: AgentStream) => void;
  readonly secret: Secret<string>;
};

function serve(plane: TestControlPlane, served: Served): void {
  const { webSocket, request } = served;
  const { faults, identity } = plane;
  if (faults.silent === "from_start") return;
  const agentNonce = mustBe(fromBase64Url(new URL(request.url ?? "", "http://x").searchParams.get("nonce") ?? ""));
  const side = createServerSide({
    identity,
    agentNonce,
    random: (length) => Uint8Array.from(randomBytes(length)),
    ...(faults.protocol ? { protocol: faults.protocol } : {}),
    ...(faults.challengeSignature ? { signature: faults.challengeSignature } : {}),
  });
  let records: Records | null = null;
  const sendRaw = (bytes: Uint8Array): void => webSocket.send(records ? records.seal(bytes) : bytes);
  const send = (frame: ServerFrame): void => sendRaw(encodeServerFrame(frame));
  let stream: AgentStream | null = null;
  webSocket.on("error", () => webSocket.terminate());
  webSocket.on("message", (data: Buffer) => {
    const frame = mustBe(decodeAgentFrame(records ? mustBe(records.open(data)) : data));
    if (stream) {
      stream.frames.push(frame);
      if (faults.silent) return;
      if (frame.kind === "ping") send({ kind: "pong", token: frame.token, wallClockMs: Date.now() });
      if (frame.kind === "needMap") served.sendSnapshot(stream);
      if (frame.kind === "leave")
        send({ kind: "bye", reason: "removed", detail: "none", message: "", retryAfterMs: 0 });
      return;
    }
    if (frame.kind !== "hello") throw new Error(`an agent's first frame is hello, not ${frame.kind}`);
    const accepted = side.accept(frame);
    records = accepted.records;
    if (faults.refuse) return send(faults.refuse);
    stream = {
      hello: frame,
      enrolmentKey: accepted.enrolmentKey,
      frames: [],
      send,
      sendRaw,
      drop: () => webSocket.terminate(),
    };
    plane.streams.push(stream);
    webSocket.on("close", () => plane.streams.splice(plane.streams.indexOf(stream as AgentStream), 1));
    const { epoch, sequence } = plane.version();
    const mode = frame.lastMap?.epoch === epoch && frame.lastMap.sequence === sequence ? "resume" : "snapshot";
    const heartbeatMs = faults.heartbeatMs ?? 15_000;
    send({ kind: "welcome", peerId: plane.peerId, epoch, heartbeatMs, mode, wallClockMs: Date.now() });
    if (mode === "snapshot") served.sendSnapshot(stream);
  });
  send(side.challengeFrame);
}
