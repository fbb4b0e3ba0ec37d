import type { AgentFrame, PeerId } from "@weft/protocol";
import type { AgentConnection } from "../http/agent-route.ts";
import type { WallClock } from "../registry/feature-deps.ts";
import type { AttachedStream } from "./attached-stream.ts";
import { refuse } from "./handshake.ts";
import type { LiveHub } from "./live-hub.ts";
import type { NetworkHub } from "./network-hub.ts";

/** A proven node's connection while it is open. */
export type NodeSession = {
  readonly onProof: () => void;
  readonly onFrame: (frame: AgentFrame) => void;
  readonly onClose: () => void;
};

/** What streams tell the log. */
export type GateLog = (event: string, fields: Readonly<Record<string, unknown>>) => void;

/** Deletes a peer because its own node asks for it. */
export type RemoveNode = (
  peerId: PeerId,
  from: { readonly address: string; readonly requestId: string },
) => Promise<void>;

export type NodeSessionDeps = {
  readonly hub: LiveHub;
  readonly networkHub: NetworkHub;
  readonly stream: AttachedStream;
  readonly connection: AgentConnection;
  readonly clock: WallClock;
  readonly remove: RemoveNode;
  readonly log: GateLog;
};

/** Handles what a node says. */
export function createNodeSession(deps: NodeSessionDeps): NodeSession {
  const { hub, networkHub, stream, connection, clock } = deps;
  const source = { hub: networkHub, peerId: stream.peerId, address: connection.address };
  let farewell: "bye" | "broken" = "broken";
  return {
    onProof() {
      stream.lastHeardMs = clock.nowMs();
      hub.presence.heard(stream.peerId, stream.lastHeardMs);
    },
    onFrame(frame) {
      switch (frame.kind) {
        case "applied":
          if (frame.errors.length > 0) deps.log("map_not_applied", { peerId: stream.peerId, errors: frame.errors });
          return hub.noteApplied(networkHub, stream, frame.sequence);
        case "needMap":
          return networkHub.resend(stream);
        case "status":
          return hub.noteStatus(source, frame.status);
        case "counters":
          hub.rules.ingest({ mirror: networkHub.mirror, peerId: stream.peerId }, frame.counters, clock.nowMs());
          return hub.noteCounters(source, frame.counters);
        case "flowRecords":
          return hub.flows.ingest({ mirror: networkHub.mirror, peerId: stream.peerId }, frame.flows, clock.nowMs());
        case "jobResult":
          return hub.jobs.finish(stream.peerId, frame.jobId, frame.outcome);
        case "jobPart":
          return hub.jobs.part(stream.peerId, frame);
        case "jobEvent":
          return hub.jobs.event(stream.peerId, frame.jobId, frame.content);
        case "ping":
          return stream.socket.send({ kind: "pong", token: frame.token, wallClockMs: clock.nowMs() });
        case "leave":
          farewell = "bye";
          return void deps.remove(stream.peerId, connection).catch((error: unknown) => {
            deps.log("leave_failed", { err: error, peerId: stream.peerId });
          });
        case "bye":
          farewell = "bye";
          return undefined;
        case "hello":
          return stream.socket.bye(refuse("protocol_error", "none", "a stream begins once"));
        case "pong":
        case "unsupported":
          return undefined;
      }
    },
    onClose: () => hub.closed(networkHub, stream, farewell),
  };
}

/** A node that is silent for longer than `SILENCE_MS` is gone. */
export const HEARTBEAT_MS = 15_000;
export const SILENCE_MS = 35_000;
