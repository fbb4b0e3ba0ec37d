import type { WebSocket } from "@fastify/websocket";
import { decodeAgentFrame, encodeServerFrame } from "@weft/protocol";
import type { AgentFrame, ServerFrame } from "@weft/protocol";
import type { Refusal } from "./handshake.ts";

/** Frames over one WebSocket. */
export type AgentSocket = {
  readonly send: (frame: ServerFrame) => void;
  readonly sendBytes: (bytes: Uint8Array) => void;
  /** Says why and closes; what comes in afterwards is not read. */
  readonly bye: (refusal: Refusal) => void;
  /** Cuts the line without a word: the other side is silent. */
  readonly cut: () => void;
  /** Bytes that the network has not taken yet. */
  readonly waitingBytes: () => number;
};

export type AgentSocketEvents = {
  readonly onFrame: (frame: AgentFrame) => void;
  /** Bytes arrived, whatever they were. */
  readonly onProof: () => void;
  readonly onClose: () => void;
};

/** Wraps a socket; broken frames end it with the reason, unknown kinds are answered and skipped. */
export function createAgentSocket(socket: WebSocket, events: AgentSocketEvents): AgentSocket {
  let isOver = false;
  const sendBytes = (bytes: Uint8Array) => {
    if (!isOver && socket.readyState === socket.OPEN) socket.send(bytes, { binary: true });
  };
  const send = (frame: ServerFrame) => sendBytes(encodeServerFrame(frame));
  const bye = (refusal: Refusal) => {
    if (isOver) return;
    send({ kind: "bye", ...refusal });
    isOver = true;
    socket.close(1000, refusal.reason);
    setTimeout(() => socket.terminate(), CLOSE_WAIT_MS).unref();
  };
  socket.binaryType = "nodebuffer";
  socket.on("message", (data, isBinary) => {
    if (isOver) return;
    events.onProof();
    if (!isBinary || !Buffer.isBuffer(data)) return bye(broken("frames are binary"));
    const frame = decodeAgentFrame(data);
    if (frame.ok) return events.onFrame(frame.value);
    if (frame.error.code === "unsupported") return send({ kind: "unsupported", frameNumber: frame.error.frameNumber });
    return bye(broken(JSON.stringify(frame.error)));
  });
  socket.on("close", () => {
    isOver = true;
    events.onClose();
  });
  // An error is always followed by "close".
  socket.on("error", () => undefined);
  return { send, sendBytes, bye, cut: () => socket.terminate(), waitingBytes: () => socket.bufferedAmount };
}

function broken(message: string): Refusal {
  return { reason: "protocol_error", detail: "none", message: message.slice(0, 200), retryAfterMs: 5_000 };
}

const CLOSE_WAIT_MS = 2_000;
