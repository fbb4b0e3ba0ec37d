import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** How a body travels; `identity` is as it is. */
export type ContentCoding = "br" | "gzip" | "identity";

/** The smallest coding that `Accept-Encoding` allows; browsers offer Brotli to secure origins and to this machine only. */
export function chooseCoding(acceptEncoding: string | string[] | undefined): ContentCoding {
  const weights = new Map<string, number>();
  for (const part of String(acceptEncoding ?? "").split(",")) {
    const [name = "", ...parameters] = part.split(";").map((word) => word.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    if (name !== "") weights.set(name, weight === undefined ? 1 : Number(weight));
  }
  const weightOf = (coding: ContentCoding) => weights.get(coding) ?? weights.get("*") ?? 0;
  const accepted = COMPRESSING.filter((coding) => weightOf(coding) > 0);
  return accepted.toSorted((left, right) => weightOf(right) - weightOf(left)).at(0) ?? "identity";
}

/** Compresses beside the event loop: `once` for what is sent many times, `fast` for what is made for one answer. */
export async function compress(
  bytes: Buffer,
  coding: Exclude<ContentCoding, "identity">,
  effort: "once" | "fast",
): Promise<Buffer> {
  if (coding === "gzip") return gzipAsync(bytes, { level: effort === "once" ? 9 : 5 });
  return brotliAsync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: effort === "once" ? 9 : 4,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}

const COMPRESSING = ["br", "gzip"] as const;
const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);
