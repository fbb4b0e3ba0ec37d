import type { FastifyRequest } from "fastify";

/** Address of the client; "unix" for the local socket. Fastify reads forwarding headers of trusted proxies only. */
export function addressOf(request: FastifyRequest): string {
  return (request.ip || "unix").replace(/^::ffff:/, "");
}

/**
 * True for a browser or tool on this very machine: loopback at both ends, no sign of anything in between, and a loopback
 * name in the address line, so that a foreign page cannot rebind its own name to us. A server that is published under
 * another name has a proxy in front of it, which may speak to us over loopback without a word about itself.
 */
export function isLocalRequest(request: FastifyRequest, publicUrl: string | undefined): boolean {
  if (publicUrl !== undefined && !LOOPBACK_HOST.test(new URL(publicUrl).host)) return false;
  const peer = (request.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  const isLoopback = peer === "::1" || peer.startsWith("127.");
  const isForwarded = Object.keys(request.headers).some((name) => HOP_HEADER.test(name));
  return isLoopback && !isForwarded && LOOPBACK_HOST.test(request.headers.host ?? "");
}

/** Path of the route that answers; the URL itself can write the same path in many ways. For unknown paths what was sent. */
export function pathOf(request: FastifyRequest): string {
  const route = request.routeOptions.url;
  return route === undefined || route.includes("*") ? (request.url.split("?", 1)[0] ?? "/") : route;
}

/** Scheme and host under which the client reached us. */
export function baseUrlOf(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}`;
}

/** What the browser says about the page that made the request. */
export function isSameOrigin(request: FastifyRequest, publicUrl: string | undefined): "same" | "foreign" | "unproven" {
  const { origin } = request.headers;
  if (origin !== undefined) {
    // "null" and other odd origins are nobody's host.
    if (!URL.canParse(origin)) return "foreign";
    const hosts = publicUrl === undefined ? [request.host] : [request.host, new URL(publicUrl).host];
    return hosts.includes(new URL(origin).host) ? "same" : "foreign";
  }
  const site = request.headers["sec-fetch-site"];
  if (site === undefined) return "unproven";
  return site === "same-origin" ? "same" : "foreign";
}

const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/;
/** What proxies, load balancers and content networks add on the way; no browser sends any of these by itself. */
const HOP_HEADER =
  /^(forwarded|via|cdn-loop|client-ip|max-forwards|x-(forwarded|real|client|cluster|original|envoy|amzn?|azure|appengine|vercel|proxy|scheme|remote)(-.*)?|(cf|fly|true-client|fastly|do-connecting|cloudfront)-.*)$/;
