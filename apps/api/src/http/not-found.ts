import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendFailure } from "./error-plugin.ts";

/** Answers unknown paths with 404 and known paths under another method with 405, both as problem documents. */
export function registerNotFound(app: FastifyInstance): void {
  const routes: { readonly method: string; readonly parts: readonly string[] }[] = [];
  app.addHook("onRoute", ({ method, url }) => {
    // The page fallback takes every path; it says nothing about what exists.
    if (url.includes("*")) return;
    for (const one of [method].flat()) routes.push({ method: one, parts: url.split("/") });
  });
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const parts = (request.url.split("?", 1)[0] ?? "/").split("/");
    const matching = routes.filter(
      (route) =>
        route.parts.length === parts.length &&
        route.parts.every((part, place) => part.startsWith(":") || part === parts[place]),
    );
    // A path that is spelt out is that one, and no parameter of another.
    const named = Math.max(...matching.map((route) => literals(route.parts)));
    const nearest = matching.filter((route) => literals(route.parts) === named);
    const allowed = [...new Set(nearest.map(({ method }) => method))].filter((method) => method !== "HEAD");
    if (allowed.length > 0) return sendFailure(request, reply, { code: "method_not_allowed", allowed });
    return sendFailure(request, reply, { code: "not_found", what: "path" });
  };
  // Nobody reads the body of what will be refused, whatever is wrong with it.
  app.addHook("preParsing", async (request, reply) => (request.is404 ? answer(request, reply) : undefined));
  app.setNotFoundHandler(answer);
}

function literals(parts: readonly string[]): number {
  return parts.filter((part) => !part.startsWith(":")).length;
}
