import type { FastifyInstance } from "fastify";
import { docsPage, DOCS_STYLE } from "./docs-page.ts";
import { openApiDocument } from "./openapi.ts";
import { REST_BASE } from "./rest-plugin.ts";

/** The OpenAPI document and its page. */
export function registerDocs(app: FastifyInstance, version: string): void {
  const document = JSON.stringify(openApiDocument(version));
  const page = docsPage(version);
  app.get(`${REST_BASE}/openapi.json`, (_request, reply) => reply.type("application/json").send(document));
  app.get(`${REST_BASE}/docs`, (_request, reply) => reply.type("text/html; charset=utf-8").send(page));
  app.get(`${REST_BASE}/docs.css`, (_request, reply) => reply.type("text/css; charset=utf-8").send(DOCS_STYLE));
}
