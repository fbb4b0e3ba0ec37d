import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { chooseCoding, compress } from "./content-coding.ts";
import type { ContentCoding } from "./content-coding.ts";

/** One file of the dashboard, held in memory. */
type Asset = {
  readonly type: string;
  readonly cacheControl: string;
  /** The file in a coding; made when it is first asked for, kept for good, and as it is where that is no longer. */
  readonly variant: (coding: ContentCoding) => Promise<Variant>;
};

type Variant = { readonly bytes: Buffer; readonly coding: ContentCoding; readonly etag: string };

/** The dashboard's files, read once: a path that is not in the set does not exist, whatever dots it holds. */
export async function loadAssets(folder: string): Promise<ReadonlyMap<string, Asset>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const assets = new Map<string, Asset>();
  for (const entry of entries) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || !type) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    const url = `/${relative(folder, path).split(sep).join("/")}`;
    // Vite puts a content hash into the names below /assets.
    const cacheControl = url.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache";
    assets.set(url, { type, cacheControl, variant: variantsOf(bytes, type) });
  }
  return assets;
}

/** Serves the dashboard; its own paths all answer with the page, which routes in the browser. */
export function registerWebAssets(app: FastifyInstance, assets: ReadonlyMap<string, Asset>): void {
  for (const [url, asset] of assets) {
    if (url !== INDEX) app.get(url, (request, reply) => sendAsset(request, reply, asset));
  }
  app.get("/*", (request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "/";
    const index = assets.get(INDEX);
    const isPage = !path.startsWith("/api/") && !path.startsWith("/trpc") && extname(path) === "";
    if (!isPage) return reply.callNotFound();
    if (!index) return reply.code(503).type("text/html; charset=utf-8").send(NOT_BUILT_PAGE);
    return sendAsset(request, reply, index);
  });
}

function variantsOf(bytes: Buffer, type: string): Asset["variant"] {
  const digest = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
  const plain: Variant = { bytes, coding: "identity", etag: `"${digest}"` };
  const made = new Map<ContentCoding, Promise<Variant>>();
  const make = async (coding: Exclude<ContentCoding, "identity">): Promise<Variant> => {
    const smaller = await compress(bytes, coding, "once");
    return smaller.length < bytes.length ? { bytes: smaller, coding, etag: `"${digest}-${coding}"` } : plain;
  };
  return async (coding) => {
    if (coding === "identity" || PACKED.test(type)) return plain;
    const variant = made.get(coding) ?? make(coding);
    made.set(coding, variant);
    return variant;
  };
}

async function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): Promise<FastifyReply> {
  const { bytes, coding, etag } = await asset.variant(chooseCoding(request.headers["accept-encoding"]));
  reply.header("etag", etag).header("cache-control", asset.cacheControl).header("vary", "accept-encoding");
  const known = (request.headers["if-none-match"] ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (known.includes(etag)) return reply.code(304).send();
  if (coding !== "identity") reply.header("content-encoding", coding);
  return reply.type(asset.type).send(bytes);
}

const INDEX = "/index.html";

const NOT_BUILT_PAGE =
  "<!doctype html><html lang=en><title>weft</title><p>The server runs, but the dashboard was not built. Run <code>npm run build</code>, then start the server again.</p>";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

/** Types that are compressed already. */
const PACKED = /^(image\/(png|x-icon)|font\/)/;
