import {
  decodeServerFrame,
  encodeAgentFrame,
  isRecord,
  NONCE_BYTES,
  toBase64Url,
  type AgentFrame,
  type DecodeError,
  type RandomBytes,
  type RecordError,
  type Records,
  type Secret,
  type ServerFrame,
  type ServerKey,
} from "@weft/protocol";

import type { ServerAddress } from "../settings/server-url.ts";
import type { Identity } from "../state/identity.ts";
import type { Connect, ConnectionEnd } from "./connection.ts";
import {
  createHandshake,
  type HandshakeError,
  type HandshakeStep,
  type HelloFacts,
  type Welcome,
} from "./handshake.ts";
import type { Timers } from "./timers.ts";

/** Why a stream ended or never began. */
export type StreamEnd =
  | ConnectionEnd
  | HandshakeError
  | { readonly code: "timeout"; readonly message: string }
  /** Somebody on the way changed, repeated, moved or made a message. */
  | { readonly code: "tampered"; readonly message: string };

export type StreamRequest = {
  readonly address: ServerAddress;
  readonly serverKey: ServerKey;
  readonly identity: Identity;
  readonly facts: HelloFacts;
  readonly enrolmentKey: Secret<string> | null;
};

export type StreamEvents = {
  /** Both sides have proved who they are; frames follow. */
  readonly onOpen: (welcome: Welcome, stream: AgentStream) => void;
  readonly onFrame: (frame: ServerFrame, raw: Uint8Array) => void;
  /** Called exactly once. */
  readonly onEnd: (end: StreamEnd) => void;
};

export type StreamDeps = { readonly connect: Connect; readonly timers: Timers; readonly random: RandomBytes };

/** An open stream; what is sent is protected. */
export type AgentStream = {
  readonly send: (frame: AgentFrame) => void;
  /** Own address of the connection; `null` when unknown. */
  readonly localAddress: () => string | null;
  readonly remoteAddress: () => string | null;
};

/** Connects and proves both sides within ten seconds. The returned function ends the stream. */
export function openStream(deps: StreamDeps, request: StreamRequest, events: StreamEvents): (message: string) => void {
  const agentNonce = deps.random(NONCE_BYTES);
  let phase: "handshake" | "open" | "ended" = "handshake";
  let records: Records | null = null;
  const end = (reason: StreamEnd): void => {
    if (phase === "ended") return;
    phase = "ended";
    cancelTimeout();
    connection.close(reason.message);
    events.onEnd(reason);
  };
  const cancelTimeout = deps.timers.after(OPEN_TIMEOUT_MS, () => {
    end({ code: "timeout", message: `the server did not finish the handshake within ${OPEN_TIMEOUT_MS / 1000} s` });
  });
  const handshake = createHandshake({
    ...request,
    agentNonce,
    channelHash: () => connection.channelHash(),
  });
  const send = (frame: AgentFrame): void => {
    if (records && phase !== "ended") connection.send(records.seal(encodeAgentFrame(frame)));
  };
  const advance = (step: HandshakeStep): void => {
    switch (step.kind) {
      case "hello":
        records = step.records;
        return connection.send(encodeAgentFrame(step.frame));
      case "failed":
        return end(step.error);
      case "done":
        phase = "open";
        cancelTimeout();
        return events.onOpen(step.welcome, {
          send,
          localAddress: () => connection.localAddress(),
          remoteAddress: () => connection.remoteAddress(),
        });
      case "ignored":
        return;
    }
  };
  const onClear = (message: Uint8Array): void => {
    const frame = decodeServerFrame(message);
    if (frame.ok) advance(handshake.handleClear(frame.value));
    else if (frame.error.code !== "unsupported") end(notAFrame(frame.error));
  };
  const onRecord = (message: Uint8Array, protection: Records): void => {
    const raw = protection.open(message);
    if (!raw.ok) return end({ code: "tampered", message: tamperedText(raw.error) });
    const frame = decodeServerFrame(raw.value);
    if (frame.ok && phase === "open") return events.onFrame(frame.value, raw.value);
    if (frame.ok) return advance(handshake.handleProven(frame.value));
    if (frame.error.code === "unsupported") return send({ kind: "unsupported", frameNumber: frame.error.frameNumber });
    end(notAFrame(frame.error));
  };
  const connection = deps.connect(request.address, toBase64Url(agentNonce), {
    onMessage(message) {
      if (phase === "ended") return;
      // Until the server's first record it may still say, in the clear, that it cannot go on.
      if (!records || (phase === "handshake" && !isRecord(message))) onClear(message);
      else onRecord(message, records);
    },
    onEnd: end,
  });
  return (message) => {
    end({ code: "closed", message });
  };
}

function tamperedText({ count, detail }: RecordError): string {
  return `something between this host and the server changes the stream (message ${count} of the server: ${detail})`;
}

function notAFrame(error: DecodeError): StreamEnd {
  return { code: "bad_frame", message: `the server sent a frame that is not valid (${JSON.stringify(error)})` };
}

const OPEN_TIMEOUT_MS = 10_000;
