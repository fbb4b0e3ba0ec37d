import type { FastifyInstance } from "fastify";
import type { WebSocket } from "@fastify/websocket";
import { addressOf } from "./client-facts.ts";
import { sendFailure } from "./error-plugin.ts";

/** Takes over an agent's connection. */
export type AgentGate = (connection: AgentConnection) => void;

export type AgentRouteOptions = {
  readonly agentGate: AgentGate;
  /** Seconds that a node shall wait before it comes again; nothing while there is room. */
  readonly waitSeconds: (address: string) => number | undefined;
};

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

/** The agents' door; under load it stays shut for new ones, before anything is spent on them. */
export function registerAgentRoute(app: FastifyInstance, options: AgentRouteOptions): void {
  app.get<{ Querystring: { nonce?: unknown } }>(
    "/agent/v1",
    {
      websocket: true,
      onRequest: async (request, reply) => {
        const retryAfterSeconds = options.waitSeconds(addressOf(request));
        if (retryAfterSeconds === undefined) return undefined;
        return sendFailure(request, reply, { code: "overloaded", retryAfterSeconds });
      },
    },
    (socket, request) => {
      options.agentGate({
        socket,
        address: addressOf(request),
        requestId: request.id,
        nonce: typeof request.query.nonce === "string" ? request.query.nonce : "",
        exportKey: undefined,
      });
    },
  );
}
