import {
  decodeAgentFrame,
  encodeServerFrame,
  fromBase64Url,
  peerIds,
  type AgentFrame,
  type Records,
  type ServerFrame,
} from "@weft/protocol";
import { countingRandom, mustBe } from "@weft/protocol/testing";

import type { Connect, ConnectionEvents } from "../stream/connection.ts";
import { createServerSide } from "./server-side.ts";
import { aServerIdentity } from "./signing.ts";

/** One connection as the script sees it. */
type ScriptedConnection = {
  readonly received: AgentFrame[];
  readonly events: ConnectionEvents;
  /** Protected once the agent has said hello. */
  readonly send: (frame: ServerFrame) => void;
  /** Bytes as somebody on the way would put them in. */
  readonly sendRaw: (message: Uint8Array) => void;
  /** The network breaks. */
  readonly breakOff: () => void;
  state: "open" | "closed";
};

/** What the wall clock of a scripted server shows, always. */
export const SERVER_CLOCK_MS = 1_700_000_000_000;

/** A server without sockets, for tests that move time by hand. It does the handshake unless told not to. */
export function createScriptedServer(
  behaviour: { mode: "normal" | "unreachable" | "mute"; heartbeatMs: number } = { mode: "normal", heartbeatMs: 15_000 },
) {
  const identity = aServerIdentity();
  const connections: ScriptedConnection[] = [];
  const connect: Connect = (_, nonce, events) => {
    const side = createServerSide({
      identity,
      agentNonce: mustBe(fromBase64Url(nonce)),
      random: countingRandom(connections.length + 1),
    });
    let records: Records | null = null;
    const connection: ScriptedConnection = {
      received: [],
      events,
      state: "open",
      send(frame) {
        const bytes = encodeServerFrame(frame);
        connection.sendRaw(records ? records.seal(bytes) : bytes);
      },
      sendRaw(message) {
        if (connection.state === "open") events.onMessage(message);
      },
      breakOff() {
        if (connection.state === "closed") return;
        connection.state = "closed";
        events.onEnd({ code: "closed", message: "connection lost" });
      },
    };
    connections.push(connection);
    queueMicrotask(() => {
      if (behaviour.mode === "unreachable") {
        connection.state = "closed";
        events.onEnd({ code: "unreachable", message: "connection refused" });
      }
      if (behaviour.mode === "normal") connection.send(side.challengeFrame);
    });
    return {
      send(message) {
        const received = mustBe(decodeAgentFrame(records ? mustBe(records.open(message)) : message));
        connection.received.push(received);
        if (received.kind === "hello") {
          ({ records } = side.accept(received));
          connection.send({
            kind: "welcome",
            peerId: peerIds.make(countingRandom(0)),
            epoch: 1n,
            heartbeatMs: behaviour.heartbeatMs,
            mode: "resume",
            wallClockMs: SERVER_CLOCK_MS,
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
      remoteAddress: () => "192.0.2.200",
    };
  };
  return { identity, connections, connect, behaviour };
}
