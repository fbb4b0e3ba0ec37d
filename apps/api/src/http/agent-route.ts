import type { FastifyInstance } from "fastify";
import type { WebSocket } from "@fastify/websocket";
import { addressOf } from "./client-facts.ts";

/** Takes over an agent's connection. */
export type AgentGate = (connection: AgentConnection) => void;

/** An agent's connection as the live side gets it. */
export type AgentConnection = {
  readonly socket: WebSocket;
  /** Address that the agent's packets come from; "unix" on the local socket. */
  readonly address: string;
  readonly requestId: string;
  /** The agent's nonce as it stands in the URL. */
  readonly nonce: string;
  /** TLS ended here; its exporter binds the handshake to the connection. */
  readonly exportKey: ((label: string, length: number) => Uint8Array) | undefined;
};

/** The agents' door. */
export function registerAgentRoute(app: FastifyInstance, gate: AgentGate): void {
  app.get<{ Querystring: { nonce?: string } }>("/agent/v1", { websocket: true }, (socket, request) => {
    gate({
      socket,
      address: addressOf(request),
      requestId: request.id,
      nonce: request.query.nonce ?? "",
      exportKey: undefined,
    });
  });
}
