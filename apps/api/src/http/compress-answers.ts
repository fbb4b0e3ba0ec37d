import type { FastifyInstance, FastifyReply } from "fastify";
import { chooseCoding, compress } from "./content-coding.ts";

/**
 * Compresses long JSON answers. Streams pass untouched, so that events leave at once; so does what has an entity tag,
 * which names exactly these bytes.
 */
export function registerCompression(app: FastifyInstance): void {
  app.addHook("onSend", async (request, reply, payload: unknown) => {
    const body = await completeBody(reply, payload);
    if (body === undefined) return payload;
    const isJson = JSON_TYPE.test(String(reply.getHeader("content-type")));
    if (!isJson || reply.hasHeader("etag") || Buffer.byteLength(body) < BYTES_MIN) return body;
    reply.header("vary", [reply.getHeader("vary"), "accept-encoding"].filter(Boolean).join(", "));
    const coding = chooseCoding(request.headers["accept-encoding"]);
    if (coding === "identity") return body;
    reply.header("content-encoding", coding).removeHeader("content-length");
    return compress(Buffer.from(body), coding, "fast");
  });
}

/** The whole answer as text; nothing when it is a stream or bytes. tRPC answers with a `Response`. */
async function completeBody(reply: FastifyReply, payload: unknown): Promise<string | undefined> {
  if (typeof payload === "string") return payload;
  if (!(payload instanceof Response)) return undefined;
  const isWhole = JSON_TYPE.test(payload.headers.get("content-type") ?? "");
  if (!isWhole || payload.headers.has("transfer-encoding")) return undefined;
  reply.code(payload.status);
  for (const [name, value] of payload.headers) reply.header(name, value);
  return payload.text();
}

const JSON_TYPE = /^application\/(problem\+)?json\b/;
/** A shorter answer fits one packet anyway. */
const BYTES_MIN = 1_024;
