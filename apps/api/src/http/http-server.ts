import { randomUUID } from "node:crypto";
import cookie from "@fastify/cookie";
import websocket from "@fastify/websocket";
import { fastifyTRPCPlugin } from "@trpc/server/adapters/fastify";
import Fastify, { LogController } from "fastify";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { BucketOptions } from "../domain/token-bucket.ts";
import type { RequestMeter } from "../metrics/request-meter.ts";
import type { FeatureDeps } from "../registry/feature-deps.ts";
import { createRouter } from "../trpc/router.ts";
import { callOf, registerCalls } from "./call-plugin.ts";
import { answerClientError } from "./client-error.ts";
import { registerCompression } from "./compress-answers.ts";
import { registerDocs } from "./docs-routes.ts";
import { BODY_BYTES_MAX, registerErrors } from "./error-plugin.ts";
import { registerHealth } from "./health-route.ts";
import { registerInstall } from "./install-routes.ts";
import { registerNotFound } from "./not-found.ts";
import { MERGE_PATCH } from "./openapi.ts";
import { registerRateLimit } from "./rate-limit.ts";
import { registerRest } from "./rest-plugin.ts";
import { registerSecurityHeaders } from "./security-headers.ts";
import { loadAssets, registerWebAssets } from "./web-assets.ts";
import type { AgentRouteOptions } from "./agent-route.ts";
import { registerAgentRoute } from "./agent-route.ts";

export type HttpServerOptions = AgentRouteOptions & {
  readonly deps: FeatureDeps;
  readonly log: FastifyBaseLogger;
  readonly webFolder: string;
  readonly trustProxy: boolean | string;
  readonly rateLimit: BucketOptions;
  readonly requests: RequestMeter;
};

/** Everything that answers over HTTP; it listens where the caller says. */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const { deps, log } = options;
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: options.trustProxy,
    routerOptions: { maxParamLength: 5_000, ignoreDuplicateSlashes: false },
    requestIdHeader: false,
    genReqId: (request) => requestId(request.headers["x-request-id"]),
    clientErrorHandler: answerClientError,
    // Open event streams must not hold up a stop.
    forceCloseConnections: true,
  });
  app.addHook("onRequest", async (request, reply) => void reply.header("x-request-id", request.id));
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url;
    const known = route === undefined || route.includes("*") ? "other" : `${request.method} ${route}`;
    options.requests.note({ route: known, status: reply.statusCode, milliseconds: reply.elapsedTime });
  });
  registerErrors(app);
  registerSecurityHeaders(app);
  registerCompression(app);
  registerNotFound(app);
  await app.register(cookie);
  registerBodies(app);
  registerRateLimit(app, { ...options.rateLimit, clock: deps.clock });
  registerCalls(app, deps);
  await app.register(websocket, { options: AGENT_SOCKET_OPTIONS });
  registerAgentRoute(app, options);
  registerRest(app, deps);
  registerInstall(app, { installer: deps.installer, publicUrl: deps.server.publicUrl });
  registerDocs(app, deps.server.version);
  await app.register(fastifyTRPCPlugin, {
    prefix: "/trpc",
    trpcOptions: {
      router: createRouter(deps),
      maxBatchSize: BATCH_CALLS_MAX,
      createContext: ({ req }: { req: Parameters<typeof callOf>[0] }) => callOf(req),
    },
  });
  registerHealth(app, deps);
  registerWebAssets(app, await loadAssets(options.webFolder));
  return app;
}

/** JSON in the two media types that operations take; an empty body is no body. */
function registerBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(["application/json", MERGE_PATCH], { parseAs: "string" }, (_request, body, done) => {
    try {
      done(null, body === "" ? undefined : JSON.parse(String(body)));
    } catch (error) {
      done(error instanceof Error ? error : new Error("unreadable JSON"), undefined);
    }
  });
}

/** Keeps a well-formed id of the caller, so that its logs and ours meet. */
function requestId(wished: string | string[] | undefined): string {
  return typeof wished === "string" && /^[\w.-]{8,100}$/.test(wished) ? wished : randomUUID();
}

/** Calls that one request may hold: it costs one token of the rate limit, and the dashboard sends no more at once. */
const BATCH_CALLS_MAX = 20;
/** Compression is off: maps are deflated once for all, and per-socket windows cost 200 kB each. */
const AGENT_SOCKET_OPTIONS = { perMessageDeflate: false, maxPayload: 512 * 1024, clientTracking: false };
