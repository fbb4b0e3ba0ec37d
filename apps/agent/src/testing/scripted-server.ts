import {
  challengeTranscript,
  decodeAgentFrame,
  encodeAgentFrame,
  encodeServerFrame,
  fromBase64Url,
  makeSealKey,
  NO_CHANNEL_HASH,
  peerIds,
  type AgentFrame,
  type Challenge,
  type ServerFrame,
} from "@weft/protocol";
import { countingRandom, mustBe } from "@weft/protocol/testing";

import type { Connect, ConnectionEvents } from "../stream/connection.ts";
import { aServerIdentity } from "./signing.ts";

/** One connection as the script sees it. */
type ScriptedConnection = {
  readonly received: AgentFrame[];
  readonly events: ConnectionEvents;
  readonly send: (frame: ServerFrame) => void;
  /** The network breaks. */
  readonly breakOff: () => void;
  state: "open" | "closed";
};

/** A server without sockets, for tests that move time by hand. It does the handshake unless told not to. */
export function createScriptedServer(
  behaviour: { mode: "normal" | "unreachable" | "mute"; heartbeatMs: number } = { mode: "normal", heartbeatMs: 15_000 },
) {
  const identity = aServerIdentity();
  const connections: ScriptedConnection[] = [];
  const connect: Connect = (_, nonce, events) => {
    const agentNonce = mustBe(fromBase64Url(nonce));
    const connection: ScriptedConnection = {
      received: [],
      events,
      state: "open",
      send(frame) {
        if (connection.state === "open") events.onFrame(frame, encodeServerFrame(frame));
      },
      breakOff() {
        if (connection.state === "closed") return;
        connection.state = "closed";
        events.onEnd({ code: "closed", message: "connection lost" });
      },
    };
    connections.push(connection);
    const challenge: Challenge = {
      serverKey: identity.serverKey,
      serverNonce: countingRandom(connections.length)(32),
      sealKey: makeSealKey(countingRandom(2)).publicKey,
      serverVersion: "scripted",
      protocolMin: 1,
      protocolMax: 1,
      channelBinding: "none",
    };
    queueMicrotask(() => {
      if (behaviour.mode === "unreachable") {
        connection.state = "closed";
        events.onEnd({ code: "unreachable", message: "connection refused" });
      }
      if (behaviour.mode === "normal") {
        connection.send({
          kind: "challenge",
          ...challenge,
          signature: identity.sign(challengeTranscript({ agentNonce, channelHash: NO_CHANNEL_HASH }, challenge)),
        });
      }
    });
    return {
      send(frame) {
        // Through the codec, as on a real connection.
        const received = mustBe(decodeAgentFrame(encodeAgentFrame(frame)));
        connection.received.push(received);
        if (received.kind === "hello") {
          connection.send({
            kind: "welcome",
            peerId: peerIds.make(countingRandom(0)),
            epoch: 1n,
            heartbeatMs: behaviour.heartbeatMs,
            mode: "resume",
          });
        }
      },
      close(message) {
        if (connection.state === "closed") return;
        connection.state = "closed";
        events.onEnd({ code: "closed", message });
      },
      channelHash: () => null,
      localAddress: () => "192.0.2.7",
    };
  };
  return { identity, connections, connect, behaviour };
}
