import { addressGroup } from "../domain/address-group.ts";
import { createFlapDamping } from "../domain/flap-damping.ts";
import { createOccupancy } from "../domain/occupancy.ts";
import { createTokenBuckets } from "../domain/token-bucket.ts";
import type { AgentConnection, AgentGate } from "../http/agent-route.ts";
import { admitNode } from "./admit-node.ts";
import type { AdmitDeps } from "./admit-node.ts";
import { attachStream } from "./attached-stream.ts";
import { createAgentSocket } from "./agent-socket.ts";
import type { AgentSocket } from "./agent-socket.ts";
import { beginHandshake, refusalFor, refuse } from "./handshake.ts";
import type { AgreedStream, Handshake, ProvenHello } from "./handshake.ts";
import type { LiveHub } from "./live-hub.ts";
import { createNodeSession, HEARTBEAT_MS } from "./node-session.ts";
import type { GateLog, NodeSession, RemoveNode } from "./node-session.ts";
import type { ServerIdentity } from "./server-identity.ts";

export type AgentGateDeps = AdmitDeps & {
  readonly hub: LiveHub;
  readonly identity: ServerIdentity;
  readonly serverVersion: string;
  readonly remove: RemoveNode;
  readonly log: GateLog;
  /** Connections at a time that were not admitted yet; there are defaults. */
  readonly strangersMax?: { readonly perSubject: number; readonly total: number };
};

/** Where a connection stands. */
type State =
  | { readonly step: "challenged"; readonly handshake: Handshake }
  | { readonly step: "admitting" }
  | { readonly step: "open"; readonly session: NodeSession }
  | { readonly step: "over" };

/** The agents' door: proves who comes in, then hands the connection to its session. */
export function createAgentGate(deps: AgentGateDeps): {
  readonly gate: AgentGate;
  /** Whether one more connection from there may begin; false while too many have not been admitted yet. */
  readonly hasRoom: (address: string) => boolean;
  readonly stop: (windowMs: number) => void;
} {
  const open = new Set<AgentSocket>();
  const flaps = createFlapDamping();
  const arrivals = createTokenBuckets(ARRIVALS);
  const strangers = createOccupancy({ ...STRANGERS, ...deps.strangersMax });
  let isStopping = false;
  const gate: AgentGate = (connection) => {
    let state: State = { step: "over" };
    const noStrangerNow = strangers.enter(addressGroup(connection.address));
    const socket = createAgentSocket(connection.socket, {
      onProof: () => state.step === "open" && state.session.onProof(),
      onFrame: (frame) => {
        if (state.step === "open") return state.session.onFrame(frame);
        // Nothing but a hello is expected before the node is proven; what comes too early is a protocol error.
        if (state.step !== "challenged" || frame.kind !== "hello") return socket.bye(EXPECTED_HELLO);
        const agreed = state.handshake.agree(frame);
        state = { step: "admitting" };
        if (!agreed.ok) return socket.bye(agreed.error);
        socket.protect(agreed.value.records);
        void proceed(agreed.value);
      },
      onTampered: (error) => {
        deps.log("message_tampered", { err: error, address: connection.address, requestId: connection.requestId });
      },
      onFault: (error) => deps.log("agent_stream_failed", { err: error, requestId: connection.requestId }),
      onClose: () => {
        clearTimeout(patience);
        noStrangerNow();
        open.delete(socket);
        if (state.step === "open") state.session.onClose();
        state = { step: "over" };
      },
    });
    const patience = setTimeout(() => socket.bye(EXPECTED_HELLO), HELLO_WAIT_MS);
    open.add(socket);
    if (isStopping) return socket.bye(restart(RESTART_WINDOW_MS));
    const room = arrivals.take(addressGroup(connection.address), deps.clock.nowMs());
    if (!room.ok) {
      const message = "too many connections from this address";
      return socket.bye({ ...refuse("overload", "none", message), retryAfterMs: room.retryAfterSeconds * 1_000 });
    }
    const handshake = beginHandshake({ ...deps, nonce: connection.nonce, exportKey: connection.exportKey });
    if (!handshake) return socket.bye(refuse("protocol_error", "none", "the URL carries no nonce of 32 bytes"));
    state = { step: "challenged", handshake };
    socket.send(handshake.challengeFrame);

    async function proceed(agreed: AgreedStream): Promise<void> {
      clearTimeout(patience);
      try {
        const proven = agreed.prove();
        if (!proven.ok) return socket.bye(proven.error);
        const calm = flaps.connect(proven.value.hello.identityKey, deps.clock.nowMs());
        if (!calm.ok) {
          const message = "this node reconnects too often; if two hosts share one identity, join one of them again";
          return socket.bye({ ...refuse("overload", "flapping", message), retryAfterMs: calm.retryAfterMs });
        }
        const session = await admit(deps, { connection, socket, proven: proven.value });
        if (!session) return;
        noStrangerNow();
        if (state.step === "over") return session.onClose();
        state = { step: "open", session };
      } catch (error) {
        deps.log("node_not_admitted", { err: error, requestId: connection.requestId });
        socket.bye({ ...refuse("overload", "none", "the server could not read its database"), retryAfterMs: 2_000 });
      }
    }
    return undefined;
  };
  return {
    gate,
    hasRoom: (address) => strangers.hasRoom(addressGroup(address)),
    stop(windowMs) {
      isStopping = true;
      for (const socket of open) socket.bye(restart(windowMs));
    },
  };
}

async function admit(
  deps: AgentGateDeps,
  arrival: { readonly connection: AgentConnection; readonly socket: AgentSocket; readonly proven: ProvenHello },
): Promise<NodeSession | undefined> {
  const { connection, socket, proven } = arrival;
  const admitted = await admitNode(deps, connection, proven);
  if (!admitted.ok) {
    deps.log("node_refused", {
      detail: admitted.error.detail,
      address: connection.address,
      requestId: connection.requestId,
    });
    socket.bye(admitted.error);
    return undefined;
  }
  const peer = admitted.value;
  const hub = await deps.hub.catchUp(peer.networkId);
  if (!hub?.mirror.peers().has(peer.id)) {
    socket.bye(refuse("removed", "none", "this node was removed from its network; join again with a new key"));
    return undefined;
  }
  const { state } = hub.mirror.peers().get(peer.id) ?? peer;
  const refusal = refusalFor(state);
  if (refusal) {
    socket.bye(refusal);
    return undefined;
  }
  const { epoch, sequence } = hub.mirror.network();
  const { lastMap } = proven.hello;
  const isCurrent = lastMap?.epoch === epoch && lastMap.sequence === sequence;
  const mode = isCurrent && state === "active" ? "resume" : "snapshot";
  hub.streams.get(peer.id)?.socket.bye(refuse("replaced", "none", "the same node opened another stream"));
  const nowMs = deps.clock.nowMs();
  socket.send({ kind: "welcome", peerId: peer.id, epoch, heartbeatMs: HEARTBEAT_MS, mode, wallClockMs: nowMs });
  const stream = attachStream({ peerId: peer.id, socket, mirror: hub.mirror, nowMs });
  deps.hub.opened(hub, stream, mode);
  deps.log("node_connected", { peerId: peer.id, name: peer.name, mode, address: connection.address });
  return createNodeSession({ ...deps, networkHub: hub, stream, connection });
}

function restart(windowMs: number) {
  return { ...refuse("restart", "none", "the server restarts"), retryAfterMs: windowMs };
}

const EXPECTED_HELLO = refuse("protocol_error", "none", "expected a hello within ten seconds of the challenge");
/** A handshake costs us a millisecond before anything is proven; thousands behind one NAT may still return at once. */
const ARRIVALS = { perSecond: 100, burst: 5_000 };
/** Connections at a time that were not admitted yet: each holds a socket and the keys of its handshake, some 20 KB. */
const STRANGERS = { perSubject: 2_000, total: 4_000 };
const HELLO_WAIT_MS = 10_000;
/** Agents come back spread over this window. */
export const RESTART_WINDOW_MS = 5_000;
