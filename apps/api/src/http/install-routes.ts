import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { AGENT_ARCHES, archiveName } from "../registry/agent-installer.ts";
import type { AgentInstaller } from "../registry/agent-installer.ts";
import { baseUrlOf } from "./client-facts.ts";
import { sendFailure } from "./error-plugin.ts";

/** The script that puts the agent on a host, and the archives it downloads; open to everybody, without a secret. */
export function registerInstall(
  app: FastifyInstance,
  { installer, publicUrl }: { readonly installer: AgentInstaller; readonly publicUrl: string | undefined },
): void {
  app.get("/install.sh", async (request, reply) => {
    const script = await installer.script(publicUrl ?? baseUrlOf(request));
    if (!script) return sendFailure(request, reply, { code: "not_found", what: NO_ARCHIVE });
    return reply.type("text/x-shellscript; charset=utf-8").send(script.text);
  });
  for (const arch of AGENT_ARCHES) {
    app.get<{ Querystring: { sha256?: unknown } }>(`/agent/${archiveName(arch)}`, async (request, reply) => {
      const file = await installer.archive(arch);
      if (!file) return sendFailure(request, reply, { code: "not_found", what: `${NO_ARCHIVE} for ${arch}` });
      const wanted = request.query.sha256;
      if (wanted !== undefined && wanted !== file.digest) {
        return sendFailure(request, reply, { code: "not_found", what: `archive any more; ${RENEWED}` });
      }
      reply.header("cache-control", wanted === undefined ? "no-cache" : "public, max-age=31536000, immutable");
      reply.header("etag", `"${file.digest}"`).header("content-length", String(file.bytes)).type("application/gzip");
      return reply.send(request.method === "HEAD" ? Readable.from([]) : createReadStream(file.path));
    });
  }
}

const NO_ARCHIVE = "agent archive on this server (npm run build makes it)";
const RENEWED = "the agent was built anew, take a new join line from the dashboard";
