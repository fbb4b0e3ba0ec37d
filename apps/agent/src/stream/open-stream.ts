import {
  NONCE_BYTES,
  toBase64Url,
  type RandomBytes,
  type Secret,
  type ServerFrame,
  type ServerKey,
} from "@weft/protocol";

import type { ServerAddress } from "../settings/server-url.ts";
import type { Identity } from "../state/identity.ts";
import type { Connect, Connection, ConnectionEnd } from "./connection.ts";
import { createHandshake, type HandshakeError, type HelloFacts, type Welcome } from "./handshake.ts";
import type { Timers } from "./timers.ts";

/** Why a stream ended or never began. */
export type StreamEnd = ConnectionEnd | HandshakeError | { readonly code: "timeout"; readonly message: string };

export type StreamRequest = {
  readonly address: ServerAddress;
  readonly serverKey: ServerKey;
  readonly identity: Identity;
  readonly facts: HelloFacts;
  readonly enrolmentKey: Secret<string> | null;
};

export type StreamEvents = {
  /** Both sides have proved who they are; frames follow. */
  readonly onOpen: (welcome: Welcome, connection: Connection) => void;
  readonly onFrame: (frame: ServerFrame, raw: Uint8Array) => void;
  /** Called exactly once. */
  readonly onEnd: (end: StreamEnd) => void;
};

export type StreamDeps = { readonly connect: Connect; readonly timers: Timers; readonly random: RandomBytes };

/** Connects and proves both sides within ten seconds. The returned function ends the stream. */
export function openStream(deps: StreamDeps, request: StreamRequest, events: StreamEvents): (message: string) => void {
  const agentNonce = deps.random(NONCE_BYTES);
  let phase: "handshake" | "open" | "ended" = "handshake";
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
    random: deps.random,
    channelHash: () => connection.channelHash(),
  });
  const connection = deps.connect(request.address, toBase64Url(agentNonce), {
    onFrame(frame, raw) {
      if (phase === "open") return events.onFrame(frame, raw);
      if (phase === "ended") return;
      const step = handshake.handle(frame);
      if (step.kind === "send") return connection.send(step.frame);
      if (step.kind === "failed") return end(step.error);
      phase = "open";
      cancelTimeout();
      events.onOpen(step.welcome, connection);
    },
    onEnd: end,
  });
  return (message) => {
    end({ code: "closed", message });
  };
}

const OPEN_TIMEOUT_MS = 10_000;
