import { parseToken } from "@weft/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { findSession, touchSession } from "../db/sessions-repository.ts";
import { findTokenByHash, touchToken } from "../db/tokens-repository.ts";
import type { User } from "../db/users-repository.ts";
import type { Actor, Call } from "../registry/call.ts";
import type { FeatureDeps } from "../registry/feature-deps.ts";
import { hashSecret } from "../registry/secrets.ts";
import { SESSION_MS } from "../registry/session-start.ts";
import { addressOf, baseUrlOf, isLocalRequest, isSameOrigin, pathOf } from "./client-facts.ts";
import { sendFailure } from "./error-plugin.ts";

const calls = new WeakMap<FastifyRequest, Call>();

/** The call that a request makes; known after the plugin's hook ran. */
export function callOf(request: FastifyRequest): Call {
  const call = calls.get(request);
  if (!call) throw new Error(`${request.url} is outside of the paths that the call plugin covers`);
  return call;
}

/** Finds out who calls, and refuses changes that another origin's page asks for. */
export function registerCalls(app: FastifyInstance, deps: FeatureDeps): void {
  const publicUrl = deps.server.publicUrl;
  app.addHook("preHandler", async (request, reply) => {
    if (!COVERED.test(pathOf(request))) return undefined;
    const actor = await actorOf(deps, request);
    if (actor === "unknown-token") {
      return sendFailure(request, reply, {
        code: "not_authenticated",
        detail: "the token is unknown, expired or revoked",
      });
    }
    const verdict = isSameOrigin(request, publicUrl);
    const isChange = request.method !== "GET" && request.method !== "HEAD";
    const mayLackProof = actor.kind !== "user" && verdict === "unproven";
    if (isChange && actor.kind !== "token" && verdict !== "same" && !mayLackProof) {
      return sendFailure(request, reply, {
        code: "cross_origin",
        origin: request.headers.origin ?? "an unknown place",
      });
    }
    calls.set(request, {
      actor,
      requestId: request.id,
      address: addressOf(request),
      userAgent: request.headers["user-agent"] ?? "",
      isLocal: isLocalRequest(request, publicUrl),
      baseUrl: publicUrl ?? baseUrlOf(request),
      ifMatch: request.headers["if-match"],
      sessionCookie: sessionCookie(reply, (publicUrl ?? baseUrlOf(request)).startsWith("https:")),
    });
    return undefined;
  });
}

async function actorOf(deps: FeatureDeps, request: FastifyRequest): Promise<Actor | "unknown-token"> {
  const { authorization } = request.headers;
  if (authorization !== undefined) return tokenActor(deps, authorization);
  const cookie = request.cookies[COOKIE_NAME];
  return cookie === undefined ? { kind: "anonymous" } : sessionActor(deps, cookie);
}

async function tokenActor(deps: FeatureDeps, authorization: string): Promise<Actor | "unknown-token"> {
  const text = /^Bearer ([\w]+)$/i.exec(authorization)?.[1];
  // The checksum turns typing errors away before the database is asked.
  const kind = text === undefined ? undefined : parseToken(text);
  if (text === undefined || !kind?.ok || kind.value === "enr") return "unknown-token";
  const nowMs = deps.clock.nowMs();
  const found = await findTokenByHash(deps.database.db, hashSecret(text), new Date(nowMs));
  if (!found) return "unknown-token";
  const { token, user } = found;
  if (nowMs - (token.lastUsedAt?.getTime() ?? 0) > TOUCH_MS)
    await touchToken(deps.database.db, token.id, new Date(nowMs));
  return {
    kind: "token",
    ...rightsOf(user),
    tokenId: token.id,
    expiresAt: token.expiresAt,
    scopes: token.scopes,
  };
}

async function sessionActor(deps: FeatureDeps, cookie: string): Promise<Actor> {
  const nowMs = deps.clock.nowMs();
  const tokenHash = hashSecret(cookie);
  const session = await findSession(deps.database.db, tokenHash, new Date(nowMs));
  if (!session) return { kind: "anonymous" };
  if (nowMs - session.lastSeenAt.getTime() > TOUCH_MS) {
    const expiresAt = new Date(nowMs + SESSION_MS);
    await touchSession(deps.database.db, tokenHash, { lastSeenAt: new Date(nowMs), expiresAt });
  }
  return { kind: "user", ...rightsOf(session.user), sessionId: tokenHash };
}

function rightsOf({ id, login, role, networkRoles, grants }: User) {
  return { userId: id, login, role, networkRoles, grants };
}

function sessionCookie(reply: FastifyReply, isSecure: boolean): Call["sessionCookie"] {
  const attributes = { path: "/", httpOnly: true, sameSite: "strict", secure: isSecure } as const;
  return {
    set: (token, expiresAt) => void reply.setCookie(COOKIE_NAME, token, { ...attributes, expires: expiresAt }),
    clear: () => void reply.clearCookie(COOKIE_NAME, attributes),
  };
}

/** Name of the session cookie. */
export const COOKIE_NAME = "weft_session";

const COVERED = /^\/(api\/v1|trpc)(\/|$)/;
/** Uses of sessions and tokens are noted at most this often, so that reading never means writing. */
const TOUCH_MS = 10 * 60_000;
