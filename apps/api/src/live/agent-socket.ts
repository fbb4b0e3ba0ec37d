import type { WebSocket } from "@fastify/websocket";
import type { RawData } from "ws";
import { decodeAgentFrame, encodeServerFrame, isClearByeReason } from "@weft/protocol";
import type { AgentFrame, RecordError, Records, ServerFrame } from "@weft/protocol";
import { guarded } from "../jobs/guarded.ts";
import type { Refusal } from "./handshake.ts";

/** Frames over one WebSocket. */
export type AgentSocket = {
  readonly send: (frame: ServerFrame) => void;
  /** Sends an encoded frame. */
  readonly sendBytes: (bytes: Uint8Array) => void;
  /** From here on every message is a record, in both directions. */
  readonly protect: (protection: Records) => void;
  /**
   * Says why and closes; what comes in afterwards is not read. Before the socket is protected the agent would not believe
   * most reasons, so only those that it does are said.
   */
  readonly bye: (refusal: Refusal) => void;
  /** Cuts the line without a word: the other side is silent. */
  readonly cut: () => void;
  /** Bytes that the network has not taken yet. */
  readonly waitingBytes: () => number;
};

export type AgentSocketEvents = {
  readonly onFrame: (frame: AgentFrame) => void;
  /** The node itself was heard: a record of it arrived. */
  readonly onProof: () => void;
  /** Somebody on the way changed, repeated, moved or made a message; the line is cut. */
  readonly onTampered: (error: RecordError) => void;
  /** A handler threw, which is a bug of ours; the line is closed, everybody else's goes on. */
  readonly onFault: (error: unknown) => void;
  readonly onClose: () => void;
};

/** Wraps a socket; broken frames end it with the reason, unknown kinds are answered and skipped. */
export function createAgentSocket(socket: WebSocket, events: AgentSocketEvents): AgentSocket {
  let isOver = false;
  let records: Records | undefined;
  let pings = 0;
  const sendBytes = (bytes: Uint8Array) => {
    if (isOver || socket.readyState !== socket.OPEN) return;
    socket.send(records ? records.seal(bytes) : bytes, { binary: true });
  };
  const send = (frame: ServerFrame) => sendBytes(encodeServerFrame(frame));
  const bye = (refusal: Refusal) => {
    if (isOver) return;
    if (records || isClearByeReason(refusal.reason)) send({ kind: "bye", ...refusal });
    isOver = true;
    socket.close(1000, refusal.reason);
    setTimeout(() => socket.terminate(), CLOSE_WAIT_MS).unref();
  };
  socket.binaryType = "nodebuffer";
  const read = (data: RawData, isBinary: boolean) => {
    if (isOver) return;
    if (!isBinary || !Buffer.isBuffer(data)) return bye(broken("frames are binary"));
    const opened = records?.open(data);
    if (opened && !opened.ok) {
      isOver = true;
      socket.terminate();
      return events.onTampered(opened.error);
    }
    if (opened) {
      pings = 0;
      events.onProof();
    }
    const frame = decodeAgentFrame(opened ? opened.value : data);
    if (frame.ok) return events.onFrame(frame.value);
    // Only who is protected gets answers: a stranger who never reads would fill memory with them.
    if (frame.error.code === "unsupported" && records) {
      return send({ kind: "unsupported", frameNumber: frame.error.frameNumber });
    }
    return bye(broken(JSON.stringify(frame.error)));
  };
  const onFault = (error: unknown) => {
    events.onFault(error);
    bye(FAULT);
  };
  socket.on("message", (data, isBinary) => guarded(() => read(data, isBinary), onFault)());
  socket.on("close", () => {
    isOver = true;
    guarded(events.onClose, events.onFault)();
  });
  // Each is answered by the library and carries up to 125 bytes; agents send frames, and a few pings at most.
  socket.on("ping", () => {
    pings += 1;
    if (pings <= PINGS_MAX) return;
    isOver = true;
    socket.terminate();
  });
  // An error is always followed by "close".
  socket.on("error", () => undefined);
  const protect = (protection: Records) => {
    records = protection;
  };
  return { send, sendBytes, protect, bye, cut: () => socket.terminate(), waitingBytes: () => socket.bufferedAmount };
}

function broken(message: string): Refusal {
  return { reason: "protocol_error", detail: "none", message: message.slice(0, 200), retryAfterMs: 5_000 };
}

const FAULT: Refusal = {
  reason: "overload",
  detail: "none",
  message: "the server could not handle a message",
  retryAfterMs: 5_000,
};
const CLOSE_WAIT_MS = 2_000;
/** Most WebSocket pings between two messages of the node; the line is cut then. */
const PINGS_MAX = 64;
