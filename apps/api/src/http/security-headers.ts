import type { FastifyInstance } from "fastify";

/** Headers that keep pages from being framed, sniffed, or fed with foreign content. */
export function registerSecurityHeaders(app: FastifyInstance): void {
  app.addHook("onSend", async (_request, reply, payload) => {
    reply.header("x-content-type-options", "nosniff");
    reply.header("referrer-policy", "no-referrer");
    reply.header("cross-origin-opener-policy", "same-origin");
    reply.header("cross-origin-resource-policy", "same-origin");
    if (String(reply.getHeader("content-type")).startsWith("text/html")) {
      reply.header("content-security-policy", CONTENT_SECURITY_POLICY);
      reply.header("x-frame-options", "DENY");
      reply.header("permissions-policy", "camera=(), microphone=(), geolocation=()");
    }
    if (reply.getHeader("cache-control") === undefined) reply.header("cache-control", "no-store");
    return payload;
  });
}

/**
 * Scripts and styles come from us alone. Style attributes are allowed: charts and tables place things with them, and
 * they cannot load or run anything.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");
